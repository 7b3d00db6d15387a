#include "CMicrohttpd.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cmicrohttpd {
    struct MHD_Daemon *daemon;
    cmicrohttpd_handler handler;
    void *context;
};

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state) {
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)state;
    struct cmicrohttpd *server = cls;
    unsigned status = MHD_HTTP_METHOD_NOT_ALLOWED;
    const char *type = cmicrohttpd_text_type();
    size_t count = 0;
    char *body = NULL;
    if (strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0) {
        body = server->handler(server->context, url, &status, &type, &count);
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(count, body, body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response) {
        free(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

struct cmicrohttpd *cmicrohttpd_start(int fd, cmicrohttpd_handler handler, void *context) {
    struct cmicrohttpd *server = malloc(sizeof *server);
    if (!server) {
        close(fd);
        return NULL;
    }
    server->handler = handler;
    server->context = context;
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, answer, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)64,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)32, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)30,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_END);
    if (!server->daemon) {
        close(fd);
        free(server);
        errno = ENOMEM;
        return NULL;
    }
    return server;
}

int cmicrohttpd_descriptor(const struct cmicrohttpd *server) {
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

int64_t cmicrohttpd_timeout(const struct cmicrohttpd *server) {
    MHD_UNSIGNED_LONG_LONG milliseconds;
    if (MHD_get_timeout(server->daemon, &milliseconds) != MHD_YES) return -1;
    return milliseconds > INT32_MAX ? INT32_MAX : (int64_t)milliseconds;
}

void cmicrohttpd_run(struct cmicrohttpd *server) { MHD_run(server->daemon); }

void cmicrohttpd_stop(struct cmicrohttpd *server) {
    MHD_stop_daemon(server->daemon);
    free(server);
}

char *cmicrohttpd_copy(const void *octets, size_t count) {
    char *copy = malloc(count > 0 ? count : 1);
    if (copy && count > 0) memcpy(copy, octets, count);
    return copy;
}

const char *cmicrohttpd_metrics_type(void) { return "text/plain; version=0.0.4; charset=utf-8"; }

const char *cmicrohttpd_text_type(void) { return "text/plain; charset=utf-8"; }

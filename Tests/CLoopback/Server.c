#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CLoopback.h"

struct cloopback_server {
    int listener, port, stop_pipe[2];
    SSL_CTX *context;
    cloopback_server_spec spec;
    unsigned char *staple;
    pthread_t acceptor;
    atomic_int accepted, connections;
    atomic_bool stopping;
};

typedef struct {
    cloopback_server *server;
    int socket;
} connection;

static int staple_response(SSL *ssl, void *argument) {
    cloopback_server *server = argument;
    if (!server->staple) return SSL_TLSEXT_ERR_NOACK;
    unsigned char *copy = OPENSSL_memdup(server->staple, server->spec.staple_count);
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)server->spec.staple_count);
    return SSL_TLSEXT_ERR_OK;
}

static int accept_any_client(int ok, X509_STORE_CTX *context) {
    (void)context;
    return ok;
}

static SSL_CTX *make_context(cloopback_server *server) {
    const cloopback_server_spec *spec = &server->spec;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_cipher_list(context, spec->ciphers ? spec->ciphers : "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context, spec->minimum_version ? spec->minimum_version : TLS1_VERSION);
    if (spec->maximum_version) SSL_CTX_set_max_proto_version(context, spec->maximum_version);
    SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
    BIO *bio = BIO_new_mem_buf(spec->chain, -1);
    X509 *leaf = PEM_read_bio_X509(bio, NULL, NULL, NULL), *next;
    int good = leaf && SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    while (good && (next = PEM_read_bio_X509(bio, NULL, NULL, NULL)))
        SSL_CTX_add_extra_chain_cert(context, next);
    BIO_free(bio);
    bio = BIO_new_mem_buf(spec->key, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    good = good && key && SSL_CTX_use_PrivateKey(context, key) == 1;
    EVP_PKEY_free(key);
    BIO_free(bio);
    if (spec->client_certificate) {
        int mode = SSL_VERIFY_PEER;
        if (spec->client_certificate == 2) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
        SSL_CTX_set_verify(context, mode, accept_any_client);
        bio = BIO_new_mem_buf(spec->client_authority, -1);
        X509 *authority = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        SSL_CTX_add_client_CA(context, authority);
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
        X509_free(authority);
        BIO_free(bio);
    }
    SSL_CTX_set_tlsext_status_cb(context, staple_response);
    SSL_CTX_set_tlsext_status_arg(context, server);
    ERR_clear_error();
    if (good) return context;
    SSL_CTX_free(context);
    return NULL;
}

// A response for each request, until the other side closes or has nothing to say for two seconds.
static void serve_requests(cloopback_server *server, SSL *ssl, int socket) {
    char request[16384], *response = malloc(1 << 20);
    size_t filled = 0;
    for (;;) {
        int count = ssl ? SSL_read(ssl, request + filled, (int)(sizeof request - filled - 1))
                        : (int)recv(socket, request + filled, sizeof request - filled - 1, 0);
        if (count <= 0) break;
        filled += (size_t)count;
        request[filled] = 0;
        if (!strstr(request, "\r\n\r\n")) continue;
        const char *sni = ssl ? SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) : NULL;
        size_t length = server->spec.respond(server->spec.owner, request, filled, sni ? sni : "",
                                             response, 1 << 20);
        if (!length) break;
        if (ssl)
            SSL_write(ssl, response, (int)length);
        else
            send(socket, response, length, MSG_NOSIGNAL);
        filled = 0;
        if (memmem(response, length, "Connection: close", 17)) break;
    }
    free(response);
}

static int read_line(SSL *ssl, int socket, char *line, size_t capacity) {
    size_t filled = 0;
    while (filled + 1 < capacity) {
        int count = ssl ? SSL_read(ssl, line + filled, 1) : (int)recv(socket, line + filled, 1, 0);
        if (count <= 0) return 0;
        if (line[filled++] == '\n') break;
    }
    line[filled] = 0;
    return 1;
}

// Enough of SMTP for a client that upgrades and says EHLO again (RFC 3207).
static void serve_mail(cloopback_server *server, int socket) {
    char line[512];
    const char *greeting = "220 mail ESMTP\r\n", *offer = "250-mail\r\n250 STARTTLS\r\n";
    SSL *ssl = NULL;
    send(socket, greeting, strlen(greeting), MSG_NOSIGNAL);
    while (read_line(ssl, socket, line, sizeof line)) {
        const char *answer = "250 fine\r\n";
        int upgrades = !ssl && strncasecmp(line, "STARTTLS", 8) == 0;
        if (upgrades) answer = "220 go ahead\r\n";
        if (!ssl && strncasecmp(line, "EHLO", 4) == 0) answer = offer;
        if (strncasecmp(line, "QUIT", 4) == 0) answer = "221 bye\r\n";
        if (ssl)
            SSL_write(ssl, answer, (int)strlen(answer));
        else
            send(socket, answer, strlen(answer), MSG_NOSIGNAL);
        if (!upgrades) continue;
        ssl = SSL_new(server->context);
        SSL_set_fd(ssl, socket);
        if (SSL_accept(ssl) != 1) break;
    }
    SSL_free(ssl);
    ERR_clear_error();
}

static void *serve(void *argument) {
    connection *accepted = argument;
    cloopback_server *server = accepted->server;
    int socket = accepted->socket;
    free(accepted);
    struct timeval patience = {2, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    int one = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    char octet;
    switch (server->spec.behaviour) {
    case CLOOPBACK_CLOSE_IN_HANDSHAKE:
        recv(socket, &octet, 1, 0);
        break;
    case CLOOPBACK_SMTP:
        serve_mail(server, socket);
        break;
    case CLOOPBACK_NEVER_ANSWER: {
        struct pollfd waiting[2] = {{socket, POLLRDHUP, 0}, {server->stop_pipe[0], POLLIN, 0}};
        poll(waiting, 2, 20000);
        break;
    }
    case CLOOPBACK_PLAIN_HTTP:
        if (server->spec.chain) {  // it was told to expect TLS: answer as web servers do
            char hello[2048];
            const char *refusal = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
                                  "Content-Length: 0\r\n\r\n";
            recv(socket, hello, sizeof hello, 0);
            send(socket, refusal, strlen(refusal), MSG_NOSIGNAL);
        } else {
            serve_requests(server, NULL, socket);
        }
        break;
    default: {
        SSL *ssl = SSL_new(server->context);
        SSL_set_fd(ssl, socket);
        if (SSL_accept(ssl) == 1) {
            serve_requests(server, ssl, socket);
            SSL_shutdown(ssl);
        }
        SSL_free(ssl);
        ERR_clear_error();
    }
    }
    shutdown(socket, SHUT_WR);
    close(socket);
    atomic_fetch_sub(&server->connections, 1);
    return NULL;
}

static void *accept_all(void *argument) {
    cloopback_server *server = argument;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    while (!atomic_load(&server->stopping)) {
        int socket = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket < 0) continue;
        if (atomic_load(&server->stopping)) {
            close(socket);
            break;
        }
        connection *accepted = malloc(sizeof *accepted);
        *accepted = (connection){server, socket};
        atomic_fetch_add(&server->accepted, 1);
        atomic_fetch_add(&server->connections, 1);
        pthread_t thread;
        if (pthread_create(&thread, &attributes, serve, accepted)) {
            atomic_fetch_sub(&server->connections, 1);
            close(socket);
            free(accepted);
        }
    }
    pthread_attr_destroy(&attributes);
    return NULL;
}

static int listen_on(const cloopback_server_spec *spec, int *port) {
    struct sockaddr_storage storage = {0};
    socklen_t count;
    int one = 1;
    if (spec->is_ipv6) {
        struct sockaddr_in6 *address = (struct sockaddr_in6 *)&storage;
        *address = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(spec->port)};
        inet_pton(AF_INET6, spec->address ? spec->address : "::1", &address->sin6_addr);
        count = sizeof *address;
    } else {
        struct sockaddr_in *address = (struct sockaddr_in *)&storage;
        *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(spec->port)};
        inet_pton(AF_INET, spec->address ? spec->address : "127.0.0.1", &address->sin_addr);
        count = sizeof *address;
    }
    int listener = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&storage, count) || listen(listener, 1024)) {
        close(listener);
        return -1;
    }
    getsockname(listener, (struct sockaddr *)&storage, &count);
    *port = ntohs(spec->is_ipv6 ? ((struct sockaddr_in6 *)&storage)->sin6_port
                                : ((struct sockaddr_in *)&storage)->sin_port);
    return listener;
}

cloopback_server *cloopback_start(const cloopback_server_spec *spec) {
    signal(SIGPIPE, SIG_IGN);
    cloopback_server *server = calloc(1, sizeof *server);
    server->spec = *spec;
    if (spec->staple) {
        server->staple = malloc(spec->staple_count);
        memcpy(server->staple, spec->staple, spec->staple_count);
    }
    int needs_context =
        spec->behaviour == CLOOPBACK_NORMAL || spec->behaviour == CLOOPBACK_SMTP;
    server->context = needs_context ? make_context(server) : NULL;
    server->listener = listen_on(spec, &server->port);
    if ((needs_context && !server->context) || server->listener < 0 ||
        pipe2(server->stop_pipe, O_CLOEXEC) ||
        pthread_create(&server->acceptor, NULL, accept_all, server)) {
        if (server->listener >= 0) close(server->listener);
        SSL_CTX_free(server->context);
        free(server->staple);
        free(server);
        return NULL;
    }
    return server;
}

int cloopback_port(const cloopback_server *server) { return server->port; }

int cloopback_accepted(const cloopback_server *server) { return atomic_load(&server->accepted); }

void cloopback_stop(cloopback_server *server) {
    atomic_store(&server->stopping, 1);
    shutdown(server->listener, SHUT_RDWR);
    if (write(server->stop_pipe[1], "", 1) < 0) perror("write");
    pthread_join(server->acceptor, NULL);
    while (atomic_load(&server->connections) > 0) usleep(1000);
    close(server->listener);
    close(server->stop_pipe[0]);
    close(server->stop_pipe[1]);
    SSL_CTX_free(server->context);
    free(server->staple);
    free(server);
}

typedef struct {
    void (*body)(void *);
    void *argument;
} work;

static void *run_work(void *argument) {
    work one = *(work *)argument;
    free(argument);
    one.body(one.argument);
    return NULL;
}

int cloopback_thread(void (*body)(void *), void *argument) {
    work *one = malloc(sizeof *one);
    *one = (work){body, argument};
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, run_work, one);
    if (!failed) pthread_detach(thread);
    return failed;
}

void cloopback_sleep(int milliseconds) { usleep((useconds_t)milliseconds * 1000); }

int64_t cloopback_cpu_time(void) {
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return spent.tv_sec * 1000000LL + spent.tv_nsec / 1000;
}

long cloopback_resident(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int cloopback_bare(const char *address, int port, const char *name, int count) {
    int worked = 0;
    for (int i = 0; i < count; i++) {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
        inet_pton(AF_INET, address, &to.sin_addr);
        int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        SSL_CTX *context = SSL_CTX_new(TLS_client_method());
        SSL *ssl = SSL_new(context);
        if (connect(descriptor, (struct sockaddr *)&to, sizeof to) == 0) {
            char line[512], answer[4096];
            int length = snprintf(line, sizeof line,
                                  "GET / HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n", name, port);
            SSL_set_fd(ssl, descriptor);
            SSL_set_tlsext_host_name(ssl, name);
            if (SSL_connect(ssl) == 1 && SSL_write(ssl, line, length) == length &&
                SSL_read(ssl, answer, sizeof answer) > 0)
                worked++;
        }
        SSL_free(ssl);
        SSL_CTX_free(context);
        close(descriptor);
    }
    return worked;
}

int cloopback_run(const char *const *arguments, const char *output, int interrupt_after) {
    pid_t child = fork();
    if (child == 0) {
        int descriptor = open(output ? output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(descriptor, 1);
        dup2(descriptor, 2);
        execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    if (child < 0) return -1;
    if (interrupt_after > 0) {
        usleep((useconds_t)interrupt_after * 1000);
        kill(child, SIGINT);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

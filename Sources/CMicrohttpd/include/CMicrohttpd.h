// An HTTP server of libmicrohttpd for GET and HEAD, driven from outside: whoever owns it waits for
// its descriptor and lets it run. What Swift cannot import, a variadic function, is behind these.
#ifndef CMICROHTTPD_H
#define CMICROHTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmicrohttpd;

// Answers a GET of `path`: writes status and content type, and gives the body, `*count` octets that
// were allocated with malloc and are freed by the caller. The content type is static text.
typedef char *(*cmicrohttpd_handler)(void *context, const char *path, unsigned *status,
                                     const char **type, size_t *count);

// Serves a listening socket, which is its own then; NULL where it cannot, with errno.
struct cmicrohttpd *cmicrohttpd_start(int fd, cmicrohttpd_handler handler, void *context);

// Readable while there is something to do.
int cmicrohttpd_descriptor(const struct cmicrohttpd *server);

// In how many milliseconds to run at the latest; -1: not before the descriptor is readable.
int64_t cmicrohttpd_timeout(const struct cmicrohttpd *server);

// Does what can be done without waiting.
void cmicrohttpd_run(struct cmicrohttpd *server);

// A copy to give as a body; NULL where there is no memory.
char *cmicrohttpd_copy(const void *octets, size_t count);

// The content types of metrics (Prometheus, text format 0.0.4) and of plain text.
const char *cmicrohttpd_metrics_type(void);
const char *cmicrohttpd_text_type(void);

void cmicrohttpd_stop(struct cmicrohttpd *server);

#endif

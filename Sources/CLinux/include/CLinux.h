// What Glibc's module map hides from Swift. _GNU_SOURCE must stand before the first include.
#ifndef CLINUX_H
#define CLINUX_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/socket.h>
#endif

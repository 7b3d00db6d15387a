// Endpoints for tests: certificates minted on the spot, and TLS servers on loopback.
#ifndef DETOUR_CLOOPBACK_H
#define DETOUR_CLOOPBACK_H

#include <stddef.h>
#include <stdint.h>

/// A new private key in PEM: "P-256", "P-384", "RSA-2048", "RSA-1024", "Ed25519". Freed with free.
char *cloopback_key(const char *kind);

typedef struct {
    const char *key;          // the subject's, PEM
    const char *issuer_key;   // PEM
    const char *issuer;       // the issuer's certificate, PEM; NULL: self-signed
    const char *common_name;  // NULL: an empty subject
    int64_t not_before;       // seconds since 1970
    int64_t not_after;
    long version;             // 1 or 3
    long serial;
    const char *digest;       // "SHA256"; NULL for Ed25519
    const char *const *extensions;  // "basicConstraints=critical,CA:TRUE", …
    size_t extension_count;
} cloopback_certificate_spec;

/// A certificate in PEM, or NULL. Freed with free.
char *cloopback_certificate(const cloopback_certificate_spec *spec);

/// A stapled OCSP response in DER. `status` is V_OCSP_CERTSTATUS_. Returns its length, 0 on failure.
size_t cloopback_staple(const char *leaf, const char *issuer, const char *signer_key, int status,
                        int64_t this_update, int64_t next_update, unsigned char **der);

/// Writes a whole HTTP response for a request into `response`; returns its length, 0 to close.
typedef size_t (*cloopback_respond)(void *owner, const char *request, size_t count, const char *sni,
                                    char *response, size_t capacity);

enum {
    CLOOPBACK_NORMAL,
    CLOOPBACK_CLOSE_IN_HANDSHAKE,
    CLOOPBACK_NEVER_ANSWER,
    CLOOPBACK_PLAIN_HTTP,
    CLOOPBACK_SMTP,  // STARTTLS after a greeting in the clear
};

typedef struct {
    const char *chain;  // the leaf first, PEM; sent as it stands
    const char *key;    // PEM
    const unsigned char *staple;
    size_t staple_count;
    int minimum_version;  // as 0x0303; 0: any
    int maximum_version;
    int client_certificate;  // 0 not asked, 1 optional, 2 required
    const char *client_authority;  // PEM
    const char *ciphers;           // for TLS 1.2 and older, or NULL
    int behaviour;
    int is_ipv6;
    const char *address;  // NULL: 127.0.0.1 or ::1
    int port;             // 0: any that is free
    cloopback_respond respond;
    void *owner;
} cloopback_server_spec;

typedef struct cloopback_server cloopback_server;

/// Starts a server on threads of its own; NULL where it cannot.
cloopback_server *cloopback_start(const cloopback_server_spec *spec);
int cloopback_port(const cloopback_server *server);
/// How many connections were accepted so far.
int cloopback_accepted(const cloopback_server *server);
/// Closes the sockets, and returns when all threads are gone.
void cloopback_stop(cloopback_server *server);

/// Runs `body` on a thread of its own and calls `done` there when it returns.
int cloopback_thread(void (*body)(void *), void *argument);
void cloopback_sleep(int milliseconds);
/// CPU time of the calling thread in microseconds.
int64_t cloopback_cpu_time(void);
/// Resident memory in KiB.
long cloopback_resident(void);
/// `count` bare TLS handshakes with one request each, one after the other. Returns how many worked.
int cloopback_bare(const char *address, int port, const char *name, int count);

/// Runs a program with its output thrown away (or into `output`), and returns its exit status.
/// `interrupt_after` > 0 sends SIGINT after so many milliseconds.
int cloopback_run(const char *const *arguments, const char *output, int interrupt_after);

#endif

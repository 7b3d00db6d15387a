// TLS between two queues of octets: no descriptor, no callback. See TLS/TLSSession.swift.
#ifndef DETOUR_COPENSSL_STREAM_H
#define DETOUR_COPENSSL_STREAM_H

#include <openssl/ssl.h>
#include <stddef.h>

/// A context for clients: TLS 1.2 at least, the peer's certificate required, ALPN `dot`, nothing sent
/// before the handshake is over. `anchors` are the octets of a PEM file, or NULL for the system's
/// store. NULL where they hold no certificate, or one that cannot be read.
SSL_CTX *copenssl_stream_context(const unsigned char *anchors, size_t count);

/// A client session. The peer must be certified for `name` (sent as SNI), or where that is NULL for
/// the address in `ip` (4 or 16 octets). `former` is a session to resume, or NULL.
SSL *copenssl_stream_client(SSL_CTX *context, const char *name, const unsigned char *ip,
                            size_t ip_count, SSL_SESSION *former);

/// Takes octets that came from the peer. Returns 0 without memory.
int copenssl_stream_receive(SSL *session, const unsigned char *octets, size_t count);
/// Goes on with the handshake. Returns 1 when it is done, 0 when more must come, -1 on failure.
int copenssl_stream_handshake(SSL *session);
/// Decrypts what has come. Returns a count, 0 when more must come, -1 at the peer's end, -2 on failure.
long copenssl_stream_read(SSL *session, unsigned char *room, size_t count);
/// Encrypts octets. Returns 1, or 0 on failure.
int copenssl_stream_write(SSL *session, const unsigned char *octets, size_t count);
/// Takes octets that are to be sent to the peer. Returns their number.
size_t copenssl_stream_send(SSL *session, unsigned char *room, size_t count);

/// The session to resume later, or NULL; the caller frees it. Nothing more can be sent.
SSL_SESSION *copenssl_stream_session(SSL *session);
/// Whether the session was resumed.
int copenssl_stream_was_resumed(const SSL *session);
/// What is wrong with the peer's certificate, as an X509_V_ number; X509_V_OK where nothing is.
long copenssl_stream_verdict(const SSL *session);
/// Why it failed, as text; empties OpenSSL's queue of errors.
void copenssl_stream_reason(const SSL *session, char *text, size_t count);

#endif

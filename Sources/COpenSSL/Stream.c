#include "COpenSSLStream.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

/// Adds the certificates of a PEM file to a store. Returns 0 where there is none, or a broken one.
static int add_anchors(X509_STORE *store, const unsigned char *octets, size_t count)
{
    if (count > INT_MAX)
        return 0;
    BIO *in = BIO_new_mem_buf(octets, (int)count);
    if (!in)
        return 0;
    int added = 0;
    int ok = 1;
    X509 *certificate;
    while (ok && (certificate = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
        ok = X509_STORE_add_cert(store, certificate);
        X509_free(certificate);
        added++;
    }
    // At the end of the file there is no beginning of another; anything else is broken.
    unsigned long error = ERR_peek_last_error();
    ok = ok && added > 0 && ERR_GET_LIB(error) == ERR_LIB_PEM &&
         ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
    BIO_free(in);
    return ok;
}

SSL_CTX *copenssl_stream_context(const unsigned char *anchors, size_t count)
{
    static const unsigned char dot[] = {3, 'd', 'o', 't'};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context)
        return NULL;
    ERR_clear_error();
    int ok = anchors ? add_anchors(SSL_CTX_get_cert_store(context), anchors, count)
                     : SSL_CTX_set_default_verify_paths(context);
    ERR_clear_error();
    // SSL_CTX_set_alpn_protos returns 0 on success.
    if (!ok || !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) ||
        SSL_CTX_set_alpn_protos(context, dot, sizeof dot) != 0) {
        SSL_CTX_free(context);
        ERR_clear_error();
        return NULL;
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    // Many servers end connections without close_notify; a DNS message has a length of its own.
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    return context;
}

SSL *copenssl_stream_client(SSL_CTX *context, const char *name, const unsigned char *ip,
                            size_t ip_count, SSL_SESSION *former)
{
    SSL *session = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem());
    BIO *out = BIO_new(BIO_s_mem());
    if (!session || !in || !out) {
        BIO_free(in);
        BIO_free(out);
        SSL_free(session);
        return NULL;
    }
    BIO_set_mem_eof_return(in, -1);
    BIO_set_mem_eof_return(out, -1);
    SSL_set_bio(session, in, out);
    SSL_set_connect_state(session);
    int ok;
    if (name) {
        SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        ok = SSL_set_tlsext_host_name(session, name) && SSL_set1_host(session, name);
    } else {
        ok = X509_VERIFY_PARAM_set1_ip(SSL_get0_param(session), ip, ip_count);
    }
    if (ok && former)
        SSL_set_session(session, former);
    if (ok)
        return session;
    SSL_free(session);
    return NULL;
}

int copenssl_stream_receive(SSL *session, const unsigned char *octets, size_t count)
{
    size_t written = 0;
    return BIO_write_ex(SSL_get_rbio(session), octets, count, &written) && written == count;
}

static int is_pending(const SSL *session, int result)
{
    int error = SSL_get_error(session, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

int copenssl_stream_handshake(SSL *session)
{
    ERR_clear_error();
    int result = SSL_do_handshake(session);
    return result == 1 ? 1 : is_pending(session, result) ? 0 : -1;
}

long copenssl_stream_read(SSL *session, unsigned char *room, size_t count)
{
    size_t got = 0;
    ERR_clear_error();
    int result = SSL_read_ex(session, room, count, &got);
    if (result == 1)
        return (long)got;
    if (is_pending(session, result))
        return 0;
    return SSL_get_error(session, result) == SSL_ERROR_ZERO_RETURN ? -1 : -2;
}

int copenssl_stream_write(SSL *session, const unsigned char *octets, size_t count)
{
    size_t written = 0;
    ERR_clear_error();
    return SSL_write_ex(session, octets, count, &written) && written == count;
}

size_t copenssl_stream_send(SSL *session, unsigned char *room, size_t count)
{
    size_t taken = 0;
    return BIO_read_ex(SSL_get_wbio(session), room, count, &taken) ? taken : 0;
}

SSL_SESSION *copenssl_stream_session(SSL *session)
{
    // A session that is freed in the middle of a conversation is marked as one that must not be
    // resumed. This one ends on purpose.
    if (SSL_is_init_finished(session))
        SSL_set_shutdown(session, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_SESSION *kept = SSL_get1_session(session);
    if (kept && SSL_SESSION_is_resumable(kept))
        return kept;
    SSL_SESSION_free(kept);
    return NULL;
}

int copenssl_stream_was_resumed(const SSL *session) { return SSL_session_reused(session); }

long copenssl_stream_verdict(const SSL *session) { return SSL_get_verify_result(session); }

void copenssl_stream_reason(const SSL *session, char *text, size_t count)
{
    long verdict = SSL_get_verify_result(session);
    unsigned long error = ERR_peek_last_error();
    const char *reason = error ? ERR_reason_error_string(error) : NULL;
    if (verdict != X509_V_OK)
        snprintf(text, count, "%s", X509_verify_cert_error_string(verdict));
    else
        snprintf(text, count, "%s", reason ? reason : "the connection ended during the handshake");
    ERR_clear_error();
}

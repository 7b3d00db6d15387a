// OpenSSL for Swift: its headers, and functions where it has only macros, stacks or callbacks.
#ifndef DETOUR_COPENSSL_H
#define DETOUR_COPENSSL_H

#include "COpenSSLStream.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stddef.h>
#include <stdint.h>

/// One error that X509_verify_cert reported: an X509_V_ERR_ code and the depth it is about.
typedef struct {
    int code;
    int depth;
} copenssl_complaint;

/// What one candidate path is judged against.
typedef struct {
    int64_t time;             // seconds since 1970
    unsigned long flags;      // X509_V_FLAG_
    unsigned int host_flags;  // X509_CHECK_FLAG_
    int purpose;              // X509_PURPOSE_
    int security_level;
    const char *host;         // or NULL; not terminated
    size_t host_count;
    const unsigned char *ip;  // or NULL; 4 or 16 octets
    size_t ip_count;
} copenssl_question;

/// Judges `path` (leaf first, anchor last) alone, all but its signatures and dates, which the caller
/// has verified; `others` serve only to find issuers of CRLs. Stores up to `capacity` complaints,
/// each distinct. Returns how many there are, or -1 where OpenSSL could not work at all.
long copenssl_judge_path(X509 *const *path, size_t count, X509 *const *others, size_t other_count,
                         X509_CRL *const *crls, size_t crl_count,
                         const copenssl_question *question, copenssl_complaint *complaints,
                         size_t capacity);

/// 1 where `issuer`'s key made the signature of `subject`, 0 where not, -1 on a key that cannot verify.
int copenssl_signed_by(X509 *subject, X509 *issuer);

/// The certificate that DER encodes from its first octet on; `used` gets its length. NULL on failure.
X509 *copenssl_certificate(const unsigned char *der, size_t count, size_t *used);

/// The CRL that DER encodes. NULL on failure.
X509_CRL *copenssl_crl(const unsigned char *der, size_t count);

/// The SignedData that DER (or BER) encodes. NULL where it is anything else.
PKCS7 *copenssl_pkcs7(const unsigned char *der, size_t count);
/// How many certificates it holds.
int copenssl_pkcs7_count(const PKCS7 *bundle);
/// The DER of one of them; the caller frees it with copenssl_free. Returns its length, or -1.
int copenssl_pkcs7_der(const PKCS7 *bundle, int index, unsigned char **der);

/// OPENSSL_free, which is a macro.
void copenssl_free(void *memory);

/// What a stapled OCSP response says about one certificate. Times are seconds since 1970, or
/// INT64_MIN where absent.
typedef struct {
    int response_status;     // OCSP_RESPONSE_STATUS_, or -1 where it does not parse
    int signature_is_valid;  // made by the issuer or its delegate
    int covers_certificate;  // the certificate's own id is in it
    int certificate_status;  // V_OCSP_CERTSTATUS_
    int64_t produced_at;
    int64_t this_update;
    int64_t next_update;
    int64_t revoked_at;
} copenssl_staple;

/// Reads and verifies a stapled OCSP response for `leaf`, issued by `issuer`, at `time`.
copenssl_staple copenssl_read_staple(const unsigned char *der, size_t count, X509 *leaf,
                                     X509 *issuer, int64_t time);

/// SHA-256 of some octets.
void copenssl_sha256(const unsigned char *octets, size_t count, unsigned char digest[32]);

// Watching handshakes.

/// What a handshake tells its observer. `owner` is what copenssl_observe was given.
typedef struct {
    /// A Certificate message came, without its four header octets; the version is SSL_version's.
    void (*certificates)(void *owner, int version, const unsigned char *octets, size_t count);
    /// The server asks for a client certificate.
    void (*certificate_request)(void *owner, SSL *ssl);
    /// The handshake is complete.
    void (*complete)(void *owner, SSL *ssl);
    /// An alert was received (or sent): its level and description.
    void (*alert)(void *owner, int level, int description, int was_received);
    /// Whether to go on with a server whose leaf is this DER.
    int (*accepts)(void *owner, const unsigned char *leaf, size_t count);
} copenssl_hooks;

/// Lets `hooks` see every handshake of the context, and lets nothing but `accepts` end one: any
/// certificate, old protocols, weak keys and long chains pass, so that they can be reported.
/// Asks for a stapled OCSP response. `owner` must outlive the context. Returns 0 on failure.
int copenssl_observe(SSL_CTX *context, const copenssl_hooks *hooks, void *owner);

/// The certificate that the server sent at `index`, with a reference for the caller, if it is this
/// DER; or NULL.
X509 *copenssl_peer_certificate(const SSL *ssl, int index, const unsigned char *der, size_t count);
/// The name of the key exchange group, or NULL.
const char *copenssl_group_name(SSL *ssl);
/// The stapled OCSP response, borrowed from the connection. Returns its length, or 0.
long copenssl_stapled_response(SSL *ssl, const unsigned char **response);
/// How many CA names the server's certificate request holds.
int copenssl_requested_ca_count(const SSL *ssl);
/// The DER of one of them; the caller frees it with copenssl_free. Returns its length, or -1.
int copenssl_requested_ca_der(const SSL *ssl, int index, unsigned char **der);

/// Uses a client certificate and its key, both PEM in memory. Returns 0 where they do not fit.
int copenssl_use_client_certificate(SSL_CTX *context, const unsigned char *pem, size_t count);

#endif

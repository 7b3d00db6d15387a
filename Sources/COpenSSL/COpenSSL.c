#include "COpenSSL.h"

#include <openssl/asn1.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <string.h>
#include <time.h>

typedef struct {
    copenssl_complaint *items;
    size_t capacity;
    size_t count;
} complaints;

// Each complaint is kept and the walk goes on: a report names everything that is wrong with a path.
static int keep_complaint(int ok, X509_STORE_CTX *context) {
    if (ok) return 1;
    complaints *kept = X509_STORE_CTX_get_app_data(context);
    if (!kept) return 0;  // OpenSSL's own check of a CRL issuer's path: all of it must hold
    copenssl_complaint complaint = {X509_STORE_CTX_get_error(context),
                                    X509_STORE_CTX_get_error_depth(context)};
    for (size_t i = 0; i < kept->count && i < kept->capacity; i++)
        if (kept->items[i].code == complaint.code && kept->items[i].depth == complaint.depth)
            return 1;
    if (kept->count < kept->capacity) kept->items[kept->count] = complaint;
    kept->count++;
    return 1;
}

// Whoever found the path has verified each of its signatures with copenssl_signed_by; to do it
// again would double the cost. Dates are the caller's as well. What is left of OpenSSL's last step
// is whether a self-signed certificate is its own issuer, which nothing here depends on.
static int signatures_are_verified(X509_STORE_CTX *context) {
    (void)context;
    return 1;
}

static int set_parameters(X509_VERIFY_PARAM *parameters, const copenssl_question *question) {
    X509_VERIFY_PARAM_set_flags(parameters, question->flags);
    X509_VERIFY_PARAM_set_time(parameters, question->time);
    X509_VERIFY_PARAM_set_auth_level(parameters, question->security_level);
    X509_VERIFY_PARAM_set_hostflags(parameters, question->host_flags);
    if (question->purpose && !X509_VERIFY_PARAM_set_purpose(parameters, question->purpose))
        return 0;
    if (question->host &&
        !X509_VERIFY_PARAM_set1_host(parameters, question->host, question->host_count))
        return 0;
    if (question->ip && !X509_VERIFY_PARAM_set1_ip(parameters, question->ip, question->ip_count))
        return 0;
    return 1;
}

// Complaints about another path than the one that was asked about would be worthless.
static int is_path(const STACK_OF(X509) *chain, X509 *const *path, size_t count) {
    if (!chain || (size_t)sk_X509_num(chain) != count) return 0;
    for (size_t i = 0; i < count; i++)
        if (X509_cmp(sk_X509_value(chain, (int)i), path[i]) != 0) return 0;
    return 1;
}

long copenssl_judge_path(X509 *const *path, size_t count, X509 *const *others, size_t other_count,
                         X509_CRL *const *crls, size_t crl_count,
                         const copenssl_question *question, copenssl_complaint *items,
                         size_t capacity) {
    long result = -1;
    complaints kept = {items, capacity, 0};
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    STACK_OF(X509) *between = sk_X509_new_null();
    STACK_OF(X509_CRL) *lists = sk_X509_CRL_new_null();
    if (!store || !context || !between || !lists || count == 0) goto done;
    for (size_t i = 1; i + 1 < count; i++)
        if (!sk_X509_push(between, path[i])) goto done;
    for (size_t i = 0; i < other_count; i++)
        if (!sk_X509_push(between, others[i])) goto done;
    // In the store, not as a trusted stack: that is where the paths of CRL issuers end as well.
    if (!X509_STORE_add_cert(store, path[count - 1])) goto done;
    for (size_t i = 0; i < crl_count; i++)
        if (!sk_X509_CRL_push(lists, crls[i])) goto done;
    if (!X509_STORE_CTX_init(context, store, path[0], between)) goto done;
    if (crl_count) X509_STORE_CTX_set0_crls(context, lists);
    X509_STORE_CTX_set_app_data(context, &kept);
    X509_STORE_CTX_set_verify_cb(context, keep_complaint);
    X509_STORE_CTX_set_verify(context, signatures_are_verified);
    if (!set_parameters(X509_STORE_CTX_get0_param(context), question)) goto done;
    if (X509_verify_cert(context) != 1 && kept.count == 0) goto done;
    if (kept.count == 0 && !is_path(X509_STORE_CTX_get0_chain(context), path, count)) goto done;
    result = (long)kept.count;
done:
    sk_X509_CRL_free(lists);
    sk_X509_free(between);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    ERR_clear_error();
    return result;
}

int copenssl_signed_by(X509 *subject, X509 *issuer) {
    EVP_PKEY *key = X509_get0_pubkey(issuer);
    int verified = key ? X509_verify(subject, key) : -1;
    ERR_clear_error();
    return verified;
}

X509 *copenssl_certificate(const unsigned char *der, size_t count, size_t *used) {
    const unsigned char *end = der;
    X509 *certificate = d2i_X509(NULL, &end, (long)count);
    if (used) *used = certificate ? (size_t)(end - der) : 0;
    ERR_clear_error();
    return certificate;
}

X509_CRL *copenssl_crl(const unsigned char *der, size_t count) {
    X509_CRL *crl = d2i_X509_CRL(NULL, &der, (long)count);
    ERR_clear_error();
    return crl;
}

PKCS7 *copenssl_pkcs7(const unsigned char *der, size_t count) {
    PKCS7 *bundle = d2i_PKCS7(NULL, &der, (long)count);
    ERR_clear_error();
    if (bundle && !(PKCS7_type_is_signed(bundle) && bundle->d.sign)) {
        PKCS7_free(bundle);
        return NULL;
    }
    return bundle;
}

int copenssl_pkcs7_count(const PKCS7 *bundle) {
    return bundle->d.sign->cert ? sk_X509_num(bundle->d.sign->cert) : 0;
}

int copenssl_pkcs7_der(const PKCS7 *bundle, int index, unsigned char **der) {
    return i2d_X509(sk_X509_value(bundle->d.sign->cert, index), der);
}

void copenssl_free(void *memory) { OPENSSL_free(memory); }

static int64_t seconds(const ASN1_GENERALIZEDTIME *time) {
    struct tm parts;
    if (!time || !ASN1_TIME_to_tm(time, &parts)) return INT64_MIN;
    return timegm(&parts);
}

// The response must be about this very certificate, not just be a valid response of the issuer.
static void read_status(copenssl_staple *staple, OCSP_BASICRESP *basic, X509 *leaf, X509 *issuer) {
    for (int i = 0; i < OCSP_resp_count(basic); i++) {
        OCSP_SINGLERESP *single = OCSP_resp_get0(basic, i);
        const OCSP_CERTID *found = OCSP_SINGLERESP_get0_id(single);
        ASN1_OBJECT *algorithm = NULL;
        OCSP_id_get0_info(NULL, &algorithm, NULL, NULL, (OCSP_CERTID *)found);
        const EVP_MD *digest = algorithm ? EVP_get_digestbyobj(algorithm) : NULL;
        OCSP_CERTID *wanted = digest ? OCSP_cert_to_id(digest, leaf, issuer) : NULL;
        int same = wanted && OCSP_id_cmp(found, wanted) == 0;
        OCSP_CERTID_free(wanted);
        if (!same) continue;
        ASN1_GENERALIZEDTIME *revoked = NULL, *this_update = NULL, *next_update = NULL;
        int reason;
        staple->covers_certificate = 1;
        staple->certificate_status =
            OCSP_single_get0_status(single, &reason, &revoked, &this_update, &next_update);
        staple->this_update = seconds(this_update);
        staple->next_update = seconds(next_update);
        staple->revoked_at = seconds(revoked);
        return;
    }
}

static int signature_is_valid(OCSP_BASICRESP *basic, X509 *issuer, int64_t time) {
    // The issuer of the certificate is the only anchor: it signs itself, or its delegate does.
    X509_STORE *store = X509_STORE_new();
    STACK_OF(X509) *signers = sk_X509_new_null();
    int verified = 0;
    if (store && signers && X509_STORE_add_cert(store, issuer) && sk_X509_push(signers, issuer)) {
        X509_VERIFY_PARAM *parameters = X509_STORE_get0_param(store);
        X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
        X509_VERIFY_PARAM_set_time(parameters, time);
        verified = OCSP_basic_verify(basic, signers, store, 0) == 1;
    }
    sk_X509_free(signers);
    X509_STORE_free(store);
    return verified;
}

copenssl_staple copenssl_read_staple(const unsigned char *der, size_t count, X509 *leaf,
                                     X509 *issuer, int64_t time) {
    copenssl_staple staple = {-1, 0, 0, V_OCSP_CERTSTATUS_UNKNOWN, INT64_MIN, INT64_MIN,
                              INT64_MIN, INT64_MIN};
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &der, (long)count);
    OCSP_BASICRESP *basic = NULL;
    if (response) {
        staple.response_status = OCSP_response_status(response);
        if (staple.response_status == OCSP_RESPONSE_STATUS_SUCCESSFUL)
            basic = OCSP_response_get1_basic(response);
    }
    if (basic) {
        staple.produced_at = seconds(OCSP_resp_get0_produced_at(basic));
        staple.signature_is_valid = signature_is_valid(basic, issuer, time);
        read_status(&staple, basic, leaf, issuer);
    }
    OCSP_BASICRESP_free(basic);
    OCSP_RESPONSE_free(response);
    ERR_clear_error();
    return staple;
}

void copenssl_sha256(const unsigned char *octets, size_t count, unsigned char digest[32]) {
    SHA256(octets, count, digest);
}

typedef struct {
    copenssl_hooks hooks;
    void *owner;
} observer;

static void free_observer(void *parent, void *item, CRYPTO_EX_DATA *data, int index, long number,
                          void *argument) {
    (void)parent, (void)data, (void)index, (void)number, (void)argument;
    OPENSSL_free(item);
}

static int observer_index = -1;
static CRYPTO_ONCE observer_once = CRYPTO_ONCE_STATIC_INIT;

static void make_observer_index(void) {
    observer_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_observer);
}

static observer *observer_of(const SSL *ssl) {
    return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), observer_index);
}

static void message_passed(int is_written, int version, int content_type, const void *octets,
                           size_t count, SSL *ssl, void *argument) {
    (void)version, (void)argument;
    const unsigned char *message = octets;
    if (is_written || content_type != SSL3_RT_HANDSHAKE || count < 4) return;
    if (message[0] != SSL3_MT_CERTIFICATE) return;
    observer *watching = observer_of(ssl);
    watching->hooks.certificates(watching->owner, SSL_version(ssl), message + 4, count - 4);
}

static void state_changed(const SSL *ssl, int where, int value) {
    observer *watching = observer_of(ssl);
    if (where & SSL_CB_HANDSHAKE_DONE) watching->hooks.complete(watching->owner, (SSL *)ssl);
    if (where & SSL_CB_ALERT)
        watching->hooks.alert(watching->owner, value >> 8, value & 0xff,
                              (where & SSL_CB_READ) != 0);
}

static int certificate_is_requested(SSL *ssl, void *argument) {
    (void)argument;
    observer *watching = observer_of(ssl);
    watching->hooks.certificate_request(watching->owner, ssl);
    return 1;
}

static int verify_nothing_but_leaf(X509_STORE_CTX *context, void *argument) {
    observer *watching = argument;
    unsigned char *der = NULL;
    X509 *leaf = X509_STORE_CTX_get0_cert(context);
    int count = leaf ? i2d_X509(leaf, &der) : -1;
    int accepted = count > 0 && watching->hooks.accepts(watching->owner, der, (size_t)count);
    OPENSSL_free(der);
    X509_STORE_CTX_set_error(context, accepted ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
    return accepted;
}

int copenssl_observe(SSL_CTX *context, const copenssl_hooks *hooks, void *owner) {
    if (!CRYPTO_THREAD_run_once(&observer_once, make_observer_index) || observer_index < 0)
        return 0;
    observer *watching = OPENSSL_malloc(sizeof *watching);
    if (!watching) return 0;
    watching->hooks = *hooks;
    watching->owner = owner;
    if (!SSL_CTX_set_ex_data(context, observer_index, watching)) {
        OPENSSL_free(watching);
        return 0;
    }
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_options(context, SSL_OP_LEGACY_SERVER_CONNECT);
    SSL_CTX_set_max_cert_list(context, 4 << 20);
    SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
    SSL_CTX_set_msg_callback(context, message_passed);
    SSL_CTX_set_info_callback(context, state_changed);
    SSL_CTX_set_cert_cb(context, certificate_is_requested, NULL);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, verify_nothing_but_leaf, watching);
    return 1;
}

X509 *copenssl_peer_certificate(const SSL *ssl, int index, const unsigned char *der, size_t count) {
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
    X509 *certificate = chain && index < sk_X509_num(chain) ? sk_X509_value(chain, index) : NULL;
    unsigned char *encoding = NULL;
    int length = certificate ? i2d_X509(certificate, &encoding) : -1;
    int same = length > 0 && (size_t)length == count && memcmp(encoding, der, count) == 0;
    OPENSSL_free(encoding);
    return same && X509_up_ref(certificate) ? certificate : NULL;
}

const char *copenssl_group_name(SSL *ssl) {
    int group = SSL_get_negotiated_group(ssl);
    return group > 0 ? SSL_group_to_name(ssl, group) : NULL;
}

long copenssl_stapled_response(SSL *ssl, const unsigned char **response) {
    long count = SSL_get_tlsext_status_ocsp_resp(ssl, response);
    return count > 0 && *response ? count : 0;
}

int copenssl_requested_ca_count(const SSL *ssl) {
    const STACK_OF(X509_NAME) *names = SSL_get0_peer_CA_list(ssl);
    return names ? sk_X509_NAME_num(names) : 0;
}

int copenssl_requested_ca_der(const SSL *ssl, int index, unsigned char **der) {
    return i2d_X509_NAME(sk_X509_NAME_value(SSL_get0_peer_CA_list(ssl), index), der);
}

int copenssl_use_client_certificate(SSL_CTX *context, const unsigned char *pem, size_t count) {
    int used = 0;
    BIO *leaf = BIO_new_mem_buf(pem, (int)count);
    BIO *key = BIO_new_mem_buf(pem, (int)count);
    X509 *certificate = leaf ? PEM_read_bio_X509(leaf, NULL, NULL, NULL) : NULL;
    EVP_PKEY *private_key = key ? PEM_read_bio_PrivateKey(key, NULL, NULL, NULL) : NULL;
    if (certificate && private_key)
        used = SSL_CTX_use_certificate(context, certificate) == 1 &&
               SSL_CTX_use_PrivateKey(context, private_key) == 1;
    for (X509 *next; used && (next = PEM_read_bio_X509(leaf, NULL, NULL, NULL));)
        if (!SSL_CTX_add_extra_chain_cert(context, next)) {
            X509_free(next);
            used = 0;
        }
    EVP_PKEY_free(private_key);
    X509_free(certificate);
    BIO_free(key);
    BIO_free(leaf);
    ERR_clear_error();
    return used;
}

#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "CLoopback.h"

static char *text_of(BIO *bio) {
    char *start;
    long count = BIO_get_mem_data(bio, &start);
    char *text = malloc((size_t)count + 1);
    memcpy(text, start, (size_t)count);
    text[count] = 0;
    BIO_free(bio);
    return text;
}

static EVP_PKEY *read_key(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return key;
}

static X509 *read_certificate(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return certificate;
}

char *cloopback_key(const char *kind) {
    EVP_PKEY *key;
    if (strncmp(kind, "RSA-", 4) == 0)
        key = EVP_RSA_gen((unsigned)atoi(kind + 4));
    else if (strcmp(kind, "Ed25519") == 0)
        key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    else
        key = EVP_EC_gen(kind);
    if (!key) return NULL;
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    EVP_PKEY_free(key);
    return text_of(bio);
}

static int add_extensions(X509 *certificate, X509 *issuer, const cloopback_certificate_spec *spec) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    for (size_t i = 0; i < spec->extension_count; i++) {
        char *line = strdup(spec->extensions[i]);
        char *equals = strchr(line, '=');
        *equals = 0;
        X509_EXTENSION *extension = X509V3_EXT_nconf(NULL, &context, line, equals + 1);
        int added = extension && X509_add_ext(certificate, extension, -1);
        X509_EXTENSION_free(extension);
        free(line);
        if (!added) return 0;
    }
    return 1;
}

char *cloopback_certificate(const cloopback_certificate_spec *spec) {
    EVP_PKEY *key = read_key(spec->key), *issuer_key = read_key(spec->issuer_key);
    X509 *issuer = spec->issuer ? read_certificate(spec->issuer) : NULL;
    X509 *certificate = X509_new();
    char *pem = NULL;
    X509_set_version(certificate, spec->version - 1);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), spec->serial);
    ASN1_TIME_set(X509_getm_notBefore(certificate), spec->not_before);
    ASN1_TIME_set(X509_getm_notAfter(certificate), spec->not_after);
    X509_NAME *name = X509_NAME_new();
    if (spec->common_name)
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                   (const unsigned char *)spec->common_name, -1, -1, 0);
    X509_set_subject_name(certificate, name);
    X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : name);
    X509_set_pubkey(certificate, key);
    const EVP_MD *digest = spec->digest ? EVP_get_digestbyname(spec->digest) : NULL;
    if (add_extensions(certificate, issuer ? issuer : certificate, spec) &&
        X509_sign(certificate, issuer_key, digest)) {
        BIO *bio = BIO_new(BIO_s_mem());
        PEM_write_bio_X509(bio, certificate);
        pem = text_of(bio);
    }
    X509_NAME_free(name);
    X509_free(certificate);
    X509_free(issuer);
    EVP_PKEY_free(issuer_key);
    EVP_PKEY_free(key);
    return pem;
}

size_t cloopback_staple(const char *leaf_pem, const char *issuer_pem, const char *signer_key,
                        int status, int64_t this_update, int64_t next_update,
                        unsigned char **der) {
    X509 *leaf = read_certificate(leaf_pem), *issuer = read_certificate(issuer_pem);
    EVP_PKEY *key = read_key(signer_key);
    OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
    OCSP_CERTID *id = OCSP_cert_to_id(EVP_sha1(), leaf, issuer);
    ASN1_TIME *from = ASN1_TIME_set(NULL, this_update), *to = ASN1_TIME_set(NULL, next_update);
    ASN1_TIME *revoked = status == V_OCSP_CERTSTATUS_REVOKED ? ASN1_TIME_set(NULL, this_update) : NULL;
    OCSP_basic_add1_status(basic, id, status, 0, revoked, from, to);
    // A responder id by the issuer's name, and whatever key the test wants to sign with.
    OCSP_BASICRESP *signed_response = basic;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key);
    size_t count = 0;
    X509 *signer = X509_dup(issuer);
    X509_set_pubkey(signer, key);
    if (OCSP_basic_sign_ctx(signed_response, signer, context, NULL, OCSP_NOCERTS)) {
        OCSP_RESPONSE *response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
        *der = NULL;
        int length = i2d_OCSP_RESPONSE(response, der);
        count = length > 0 ? (size_t)length : 0;
        OCSP_RESPONSE_free(response);
    }
    X509_free(signer);
    EVP_MD_CTX_free(context);
    ASN1_TIME_free(revoked);
    ASN1_TIME_free(from);
    ASN1_TIME_free(to);
    OCSP_CERTID_free(id);
    OCSP_BASICRESP_free(basic);
    EVP_PKEY_free(key);
    X509_free(issuer);
    X509_free(leaf);
    return count;
}

// libcurl for Swift: its variadic setters and getters made typed.
#ifndef DETOUR_CCURL_H
#define DETOUR_CCURL_H

#include <curl/curl.h>
#include <stddef.h>

// Values that are macros with casts.
static const long CCURL_AUTH_BASIC = CURLAUTH_BASIC;
static const long CCURL_AUTH_DIGEST = CURLAUTH_DIGEST;

CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value);

/// Takes octets of a header or of a body; what it returns is not `count` ends the transfer.
typedef size_t (*ccurl_sink)(char *octets, size_t size, size_t count, void *owner);
CURLcode ccurl_set_sink(CURL *easy, CURLoption option, ccurl_sink sink);
CURLcode ccurl_set_context_hook(CURL *easy, curl_ssl_ctx_callback hook);

long ccurl_number(CURL *easy, CURLINFO info);
/// Microseconds.
long long ccurl_time(CURL *easy, CURLINFO info);

CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long value);
/// A transfer that ended, or NULL; `result` gets how.
CURL *ccurl_ended(CURLM *multi, CURLcode *result);

/// Starts a detached thread, with all signals blocked in it. Returns 0 on success.
int ccurl_start_thread(void *(*body)(void *), void *argument);

/// Holds SIGPIPE back from this thread: OpenSSL writes to sockets that the other side has closed.
/// Returns whether it was let through before.
int ccurl_hold_sigpipe(void);
/// Drops a SIGPIPE that came, and lets later ones through where `was_open`.
void ccurl_release_sigpipe(int was_open);

/// A recursive lock.
typedef struct ccurl_lock_s ccurl_lock_s;
ccurl_lock_s *ccurl_lock_new(void);
void ccurl_lock_free(ccurl_lock_s *lock);
void ccurl_lock(ccurl_lock_s *lock);
void ccurl_unlock(ccurl_lock_s *lock);

/// Seconds of a clock that no one sets.
double ccurl_now(void);

#endif

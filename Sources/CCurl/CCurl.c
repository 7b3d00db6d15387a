// Before the first header: sigtimedwait is not in ISO C.
#define _GNU_SOURCE
#include "CCurl.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_sink(CURL *easy, CURLoption option, ccurl_sink sink) {
    return curl_easy_setopt(easy, option, sink);
}

CURLcode ccurl_set_context_hook(CURL *easy, curl_ssl_ctx_callback hook) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, hook);
}

long ccurl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

long long ccurl_time(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? (long long)value : 0;
}

CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

CURL *ccurl_ended(CURLM *multi, CURLcode *result) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));)
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    return NULL;
}

int ccurl_start_thread(void *(*body)(void *), void *argument) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) pthread_detach(thread);
    return failed;
}

int ccurl_hold_sigpipe(void) {
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    return !sigismember(&before, SIGPIPE);
}

void ccurl_release_sigpipe(int was_open) {
    sigset_t pipe;
    struct timespec none = {0, 0};
    if (!was_open) return;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (sigtimedwait(&pipe, NULL, &none) > 0) {}
    pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
}

struct ccurl_lock_s {
    pthread_mutex_t mutex;
};

ccurl_lock_s *ccurl_lock_new(void) {
    ccurl_lock_s *lock = malloc(sizeof *lock);
    pthread_mutexattr_t kind;
    if (!lock) abort();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock->mutex, &kind);
    pthread_mutexattr_destroy(&kind);
    return lock;
}

void ccurl_lock_free(ccurl_lock_s *lock) {
    pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

void ccurl_lock(ccurl_lock_s *lock) { pthread_mutex_lock(&lock->mutex); }

void ccurl_unlock(ccurl_lock_s *lock) { pthread_mutex_unlock(&lock->mutex); }

double ccurl_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

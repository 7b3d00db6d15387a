#ifndef DETOUR_CCURL_H
#define DETOUR_CCURL_H
#include <curl/curl.h>
#endif

// The C library as Platform sees it: with what Glibc's own module map hides from Swift, and inline
// functions for what Swift cannot import, macros with bodies (CMSG_*) and variadic functions.
//
// Platform imports this instead of Glibc.
#ifndef CLINUX_H
#define CLINUX_H

// Two headers declare a type differently under _GNU_SOURCE. The compiler refuses to see both forms
// in one program, and Synchronization brings Glibc's along; so these two come first, in that form.
#include <sys/resource.h>
#include <sys/select.h>

// All other headers are read with everything that they hide otherwise: recvmmsg, accept4,
// in6_pktinfo. The feature macros have been settled above, and are settled anew.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FEATURES_H
#include <features.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// errno is a macro with a body.
static inline int clinux_errno(void) { return errno; }

// A socket address as Swift keeps it: 128 bits in host order, IPv4 in its IPv4-mapped form.
struct clinux_endpoint {
    uint64_t high;
    uint64_t low;
    uint32_t scope;  // an interface index, or 0
    uint16_t port;
};

// A socket address as the kernel writes it.
union clinux_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

// What the kernel says of one datagram beside its octets: the peer and the ancillary data.
struct clinux_envelope {
    union clinux_address peer;
    _Alignas(struct cmsghdr) unsigned char control[64];
};

static inline size_t clinux_control_offset(void) { return offsetof(struct clinux_envelope, control); }

static inline size_t clinux_control_size(void) {
    return sizeof(((struct clinux_envelope *)0)->control);
}

_Static_assert(CMSG_SPACE(sizeof(struct in6_pktinfo)) <= 64, "a control buffer holds a PKTINFO");
_Static_assert(CMSG_SPACE(sizeof(struct in_pktinfo)) <= 64, "a control buffer holds a PKTINFO");

#define CLINUX_MAPPED 0x0000FFFF00000000ULL

static inline bool clinux_is_v4(const struct clinux_endpoint *endpoint) {
    return endpoint->high == 0 && endpoint->low >> 32 == 0xFFFF;
}

static inline void clinux_get_v6(struct clinux_endpoint *endpoint, const struct in6_addr *address) {
    uint64_t halves[2];
    memcpy(halves, address, 16);
    endpoint->high = be64toh(halves[0]);
    endpoint->low = be64toh(halves[1]);
}

static inline void clinux_put_v6(const struct clinux_endpoint *endpoint, struct in6_addr *address) {
    uint64_t halves[2] = {htobe64(endpoint->high), htobe64(endpoint->low)};
    memcpy(address, halves, 16);
}

static inline struct clinux_endpoint clinux_from_address(const union clinux_address *address) {
    struct clinux_endpoint endpoint = {0, 0, 0, 0};
    if (address->any.sa_family == AF_INET) {
        endpoint.low = CLINUX_MAPPED | ntohl(address->v4.sin_addr.s_addr);
        endpoint.port = ntohs(address->v4.sin_port);
    } else if (address->any.sa_family == AF_INET6) {
        clinux_get_v6(&endpoint, &address->v6.sin6_addr);
        endpoint.scope = address->v6.sin6_scope_id;
        endpoint.port = ntohs(address->v6.sin6_port);
    }
    return endpoint;
}

static inline socklen_t clinux_to_address(struct clinux_endpoint endpoint,
                                          union clinux_address *address) {
    memset(address, 0, sizeof *address);
    if (clinux_is_v4(&endpoint)) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_addr.s_addr = htonl((uint32_t)endpoint.low);
        address->v4.sin_port = htons(endpoint.port);
        return sizeof address->v4;
    }
    address->v6.sin6_family = AF_INET6;
    clinux_put_v6(&endpoint, &address->v6.sin6_addr);
    address->v6.sin6_scope_id = endpoint.scope;
    address->v6.sin6_port = htons(endpoint.port);
    return sizeof address->v6;
}

// Reads an address without port or scope.
static inline bool clinux_scan(const char *text, struct clinux_endpoint *endpoint) {
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, text, &v4) == 1) {
        endpoint->high = 0;
        endpoint->low = CLINUX_MAPPED | ntohl(v4.s_addr);
        return true;
    }
    if (inet_pton(AF_INET6, text, &v6) != 1) return false;
    clinux_get_v6(endpoint, &v6);
    return true;
}

// Writes an address without port or scope, and gives the length.
static inline size_t clinux_print(struct clinux_endpoint endpoint, void *text, size_t room) {
    union clinux_address address;
    clinux_to_address(endpoint, &address);
    const void *octets = address.any.sa_family == AF_INET ? (const void *)&address.v4.sin_addr
                                                          : (const void *)&address.v6.sin6_addr;
    if (!inet_ntop(address.any.sa_family, octets, (char *)text, (socklen_t)room)) return 0;
    return strlen((const char *)text);
}

static inline size_t clinux_interface_name(unsigned index, void *text, size_t room) {
    char name[IF_NAMESIZE];
    if (!if_indextoname(index, name)) return 0;
    size_t length = strlen(name);
    if (length > room) return 0;
    memcpy(text, name, length);
    return length;
}

// The address of ours that a datagram was sent to, and the interface it came in on as the scope.
static inline bool clinux_destination(struct msghdr *message, struct clinux_endpoint *local) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            local->high = 0;
            // Not ipi_addr: that may be a broadcast address, which nothing can be sent from.
            local->low = CLINUX_MAPPED | ntohl(info.ipi_spec_dst.s_addr);
            local->scope = (uint32_t)info.ipi_ifindex;
            return true;
        }
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            clinux_get_v6(local, &info.ipi6_addr);
            local->scope = info.ipi6_ifindex;
            return true;
        }
    }
    return false;
}

// Makes a datagram leave from `local`; a scope of 0 leaves the interface to the routing table.
static inline void clinux_set_source(struct msghdr *message, struct clinux_endpoint local) {
    struct cmsghdr *c = (struct cmsghdr *)message->msg_control;
    if (clinux_is_v4(&local)) {
        struct in_pktinfo info = {(int)local.scope, {htonl((uint32_t)local.low)}, {0}};
        c->cmsg_level = IPPROTO_IP;
        c->cmsg_type = IP_PKTINFO;
        c->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(c), &info, sizeof info);
        message->msg_controllen = CMSG_SPACE(sizeof info);
    } else {
        struct in6_pktinfo info;
        clinux_put_v6(&local, &info.ipi6_addr);
        info.ipi6_ifindex = local.scope;
        c->cmsg_level = IPPROTO_IPV6;
        c->cmsg_type = IPV6_PKTINFO;
        c->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(c), &info, sizeof info);
        message->msg_controllen = CMSG_SPACE(sizeof info);
    }
}

static inline int clinux_set_option(int fd, int level, int option, int value) {
    return setsockopt(fd, level, option, &value, sizeof value);
}

static inline int clinux_get_option(int fd, int level, int option) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(fd, level, option, &value, &length) < 0 ? -1 : value;
}

// How many datagrams found no room in a socket's receive buffer; 0 where the kernel does not say.
static inline unsigned clinux_dropped(int fd) {
    unsigned memory[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof memory;
    return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &length) < 0 ? 0 : memory[SK_MEMINFO_DROPS];
}

static inline int clinux_bind(int fd, struct clinux_endpoint endpoint) {
    union clinux_address address;
    socklen_t length = clinux_to_address(endpoint, &address);
    return bind(fd, &address.any, length);
}

static inline int clinux_connect(int fd, struct clinux_endpoint endpoint) {
    union clinux_address address;
    socklen_t length = clinux_to_address(endpoint, &address);
    return connect(fd, &address.any, length);
}

static inline int clinux_accept(int fd, struct clinux_endpoint *peer) {
    union clinux_address address;
    socklen_t length = sizeof address;
    int accepted = accept4(fd, &address.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) *peer = clinux_from_address(&address);
    return accepted;
}

static inline int clinux_local(int fd, struct clinux_endpoint *endpoint) {
    union clinux_address address;
    socklen_t length = sizeof address;
    int result = getsockname(fd, &address.any, &length);
    if (result == 0) *endpoint = clinux_from_address(&address);
    return result;
}

// The address of a Unix socket and its size, 0 where the name does not fit; a name that starts with
// '@' is an abstract one (unix(7)).
static inline socklen_t clinux_unix_address(const char *name, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof address->sun_path) {
        errno = length == 0 ? EINVAL : ENAMETOOLONG;
        return 0;
    }
    memcpy(address->sun_path, name, length);
    if (name[0] == '@') address->sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static inline int clinux_bind_unix(int fd, const char *name) {
    struct sockaddr_un address;
    socklen_t size = clinux_unix_address(name, &address);
    return size == 0 ? -1 : bind(fd, (struct sockaddr *)&address, size);
}

static inline int clinux_connect_unix(int fd, const char *name) {
    struct sockaddr_un address;
    socklen_t size = clinux_unix_address(name, &address);
    return size == 0 ? -1 : connect(fd, (struct sockaddr *)&address, size);
}

// Writes the path that a Unix socket is bound to, and gives its length; 0: it has none.
static inline size_t clinux_unix_path(int fd, void *text, size_t room) {
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) return 0;
    if (size <= offsetof(struct sockaddr_un, sun_path) || address.sun_path[0] == 0) return 0;
    size_t length = strnlen(address.sun_path, size - offsetof(struct sockaddr_un, sun_path));
    if (length > room) return 0;
    memcpy(text, address.sun_path, length);
    return length;
}

// Sends one datagram to a Unix socket.
static inline ssize_t clinux_send_unix(int fd, const char *name, const void *octets, size_t count) {
    struct sockaddr_un address;
    socklen_t size = clinux_unix_address(name, &address);
    if (size == 0) return -1;
    return sendto(fd, octets, count, MSG_NOSIGNAL, (struct sockaddr *)&address, size);
}

// Who connected a Unix socket: SO_PEERCRED.
static inline int clinux_peer(int fd, pid_t *process, uid_t *user, gid_t *group) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -1;
    *process = peer.pid;
    *user = peer.uid;
    *group = peer.gid;
    return 0;
}

// Whether who connected a Unix socket is in a group, as one of its supplementary ones.
static inline bool clinux_peer_is_in(int fd, gid_t group) {
    gid_t groups[256];
    socklen_t size = sizeof groups;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0) return false;
    for (size_t i = 0; i < size / sizeof groups[0]; i++)
        if (groups[i] == group) return true;
    return false;
}

// A user's name, or an empty one; gives its length.
static inline size_t clinux_user_name(uid_t user, char *name, size_t room) {
    struct passwd entry, *found = NULL;
    char strings[4096];
    if (getpwuid_r(user, &entry, strings, sizeof strings, &found) != 0 || !found) return 0;
    size_t length = strlen(entry.pw_name);
    if (length > room) return 0;
    memcpy(name, entry.pw_name, length);
    return length;
}

// A user by name, or by number where `name` is NULL: 1 found, 0 there is none, -1 with errno.
static inline int clinux_find_user(const char *name, uid_t *user, gid_t *group) {
    struct passwd entry, *found = NULL;
    char strings[16384];
    int error = name ? getpwnam_r(name, &entry, strings, sizeof strings, &found)
                     : getpwuid_r(*user, &entry, strings, sizeof strings, &found);
    if (!found) {
        // Several numbers mean that there is none (getpwnam(3)).
        errno = error;
        return error == ERANGE || error == EIO || error == EMFILE || error == ENFILE ? -1 : 0;
    }
    *user = entry.pw_uid;
    *group = entry.pw_gid;
    return 1;
}

// A group by name: 1 found, 0 there is none, -1 with errno. Its members may be many.
static inline int clinux_find_group(const char *name, gid_t *group) {
    struct group entry, *found = NULL;
    char *strings = NULL;
    int error = ERANGE;
    for (size_t room = 1 << 14; error == ERANGE && room <= 1 << 24; room *= 4) {
        char *more = (char *)realloc(strings, room);
        if (!more) break;
        strings = more;
        error = getgrnam_r(name, &entry, strings, room, &found);
    }
    if (found) *group = entry.gr_gid;
    free(strings);
    errno = error;
    return found ? 1 : error == ERANGE || error == EIO ? -1 : 0;
}

// Gives a socket's path to a user and group, as long as it is the socket that we have just made:
// whoever may write in the folder could have put something else there.
static inline int clinux_give_socket(const char *path, uid_t user, gid_t group) {
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat status;
    int result = fstat(fd, &status);
    if (result == 0 && (!S_ISSOCK(status.st_mode) || status.st_nlink != 1)) {
        errno = EPERM;
        result = -1;
    }
    if (result == 0) result = fchownat(fd, "", user, group, AT_EMPTY_PATH);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

// Whether this thread may change user and group.
static inline bool clinux_may_change_user(void) {
    cap_flag_value_t user = CAP_CLEAR, group = CAP_CLEAR;
    cap_t own = cap_get_proc();
    if (!own) return false;
    cap_get_flag(own, CAP_SETUID, CAP_EFFECTIVE, &user);
    cap_get_flag(own, CAP_SETGID, CAP_EFFECTIVE, &group);
    cap_free(own);
    return user == CAP_SET && group == CAP_SET;
}

// Becomes a user with a group; with the groups that the machine gives to its name, if it has one.
static inline int clinux_become(const char *name, uid_t user, gid_t group) {
    if ((name ? initgroups(name, group) : setgroups(0, NULL)) < 0) return -1;
    if (setresgid(group, group, group) < 0) return -1;
    return setresuid(user, user, user);
}

// Whether a process that is no longer root can be it again; it is then.
static inline bool clinux_regains_root(void) { return geteuid() != 0 && setuid(0) == 0; }

// Empties the bounding set as far as that is permitted (CAP_SETPCAP).
static inline void clinux_drop_bounding_set(void) {
    for (cap_value_t capability = 0; capability < cap_max_bits(); capability++) {
        if (cap_get_bound(capability) == 1 && cap_drop_bound(capability) < 0) return;
    }
}

// Whether this thread has a capability in its effective, permitted or inheritable set; the ambient
// set is a part of those.
static inline bool clinux_has_capability(int capability) {
    cap_t own = cap_get_proc();
    if (!own) return true;
    bool has = false;
    for (int set = CAP_EFFECTIVE; set <= CAP_INHERITABLE; set++) {
        cap_flag_value_t value = CAP_CLEAR;
        cap_get_flag(own, (cap_value_t)capability, (cap_flag_t)set, &value);
        has = has || value == CAP_SET;
    }
    cap_free(own);
    return has;
}

// Leaves this thread no capability, effective, permitted, inheritable or ambient.
static inline int clinux_drop_capabilities(void) {
    // Not every kernel has ambient ones; without permitted ones there are none.
    cap_reset_ambient();
    cap_t none = cap_init();
    if (!none) return -1;
    int result = cap_set_proc(none);
    int error = errno;
    cap_free(none);
    errno = error;
    return result;
}

// Writes a capability's name, as `cap_net_bind_service`, and gives its length.
static inline size_t clinux_capability_name(int capability, char *text, size_t room) {
    char *name = cap_to_name((cap_value_t)capability);
    if (!name) return 0;
    size_t length = strlen(name);
    if (length > room) length = room;
    memcpy(text, name, length);
    cap_free(name);
    return length;
}

static inline int clinux_capability_count(void) { return (int)cap_max_bits(); }

// What this process executes gets no rights that it does not have itself. prctl is variadic.
static inline int clinux_forbid_new_rights(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// One event of inotify at an offset of what was read; gives the offset of the next, 0 at the end.
static inline size_t clinux_inotify_event(const unsigned char *octets, size_t offset, size_t count,
                                          int *watch, uint32_t *mask, const char **name) {
    struct inotify_event event;
    if (offset + sizeof event > count) return 0;
    memcpy(&event, octets + offset, sizeof event);
    if (event.len > count - offset - sizeof event) return 0;
    *watch = event.wd;
    *mask = event.mask;
    // The kernel pads names with at least one zero.
    *name = event.len > 0 ? (const char *)octets + offset + sizeof event : "";
    return offset + sizeof event + event.len;
}

// SIG_IGN is a macro with a cast.
static inline void clinux_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }

// The first argument is an enum in C and an int in C++ and POSIX; Swift would need a cast.
static inline int clinux_get_file_limit(struct rlimit *limit) {
    return getrlimit(RLIMIT_NOFILE, limit);
}

static inline int clinux_set_file_limit(const struct rlimit *limit) {
    return setrlimit(RLIMIT_NOFILE, limit);
}

// A fixed array imports as a tuple.
static inline const char *clinux_entry_name(const struct dirent *entry) { return entry->d_name; }

static inline int clinux_open(const char *path, int flags) { return open(path, flags | O_CLOEXEC); }

static inline int clinux_set_blocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

static inline int clinux_create(const char *path, int flags, mode_t mode) {
    return open(path, flags | O_CREAT | O_CLOEXEC, mode);
}

// Under a name of its own: inside a type with a `close` of its own, Swift would find that one.
static inline int clinux_close(int fd) { return close(fd); }

static inline int clinux_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }

// Makes a descriptor non-blocking and closed on exec.
static inline int clinux_make_ours(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return -1;
    return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static inline int clinux_epoll_control(int poller, int operation, int fd, uint32_t events,
                                       uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(poller, operation, fd, &event);
}

static inline uint64_t clinux_token(const struct epoll_event *event) { return event->data.u64; }

// CPU_COUNT is a macro with a body.
static inline int clinux_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) < 0 ? 1 : CPU_COUNT(&set);
}

#endif

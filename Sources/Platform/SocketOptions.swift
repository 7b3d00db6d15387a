internal import CLinux

// Socket options, each named for what it does. A flag or number of setsockopt(2) is always an int.

extension FileDescriptor {
    /// A new socket, non-blocking and closed on exec.
    static func socket(family: Int32, type: __socket_type) throws(Errno) -> FileDescriptor {
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        return FileDescriptor(
            adopting: try check(CLinux.socket(family, Int32(type.rawValue) | flags, 0))
        )
    }

    /// Sets an option that must be there.
    func setOption(_ level: Int32, _ option: Int32, _ value: Int32) throws(Errno) {
        try check(clinux_set_option(rawValue, level, option, value))
    }

    /// Sets an option that a kernel may lack without harm.
    func tryOption(_ level: Int32, _ option: Int32, _ value: Int32) {
        _ = clinux_set_option(rawValue, level, option, value)
    }

    func bind(to address: SocketAddress) throws(Errno) {
        try check(clinux_bind(rawValue, address.endpoint))
    }

    /// The address that a socket is bound to.
    func boundAddress() throws(Errno) -> SocketAddress {
        var endpoint = clinux_endpoint()
        // Safe: the call writes one struct of ours.
        try check(unsafe clinux_local(rawValue, &endpoint))
        return SocketAddress(endpoint)
    }

    /// Asks for the largest buffers: beyond the machine's limit with CAP_NET_ADMIN, else up to it.
    func setDatagramBuffers(octets: Int32) {
        if clinux_set_option(rawValue, SOL_SOCKET, SO_RCVBUFFORCE, octets) < 0 {
            tryOption(SOL_SOCKET, SO_RCVBUF, octets)
        }
        if clinux_set_option(rawValue, SOL_SOCKET, SO_SNDBUFFORCE, octets) < 0 {
            tryOption(SOL_SOCKET, SO_SNDBUF, octets)
        }
    }

    /// Lets datagrams be fragmented at the interface's MTU and believes no ICMP about the path's,
    /// so that no forged "packet too big" makes our datagrams fragment (IP_PMTUDISC_OMIT, ip(7)).
    func ignorePathMTU(ipv4: Bool) {
        if ipv4 {
            tryOption(Int32(IPPROTO_IP), IP_MTU_DISCOVER, IP_PMTUDISC_OMIT)
        } else {
            tryOption(Int32(IPPROTO_IPV6), IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT)
        }
    }
}

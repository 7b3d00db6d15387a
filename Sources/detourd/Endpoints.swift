import Configuration
import Control
import Platform
import Server

/// Everything that is bound, made and given away while the daemon may still do it: behind that it
/// gives up its rights, and reads its files as the user who will read them again.
struct Endpoints: ~Copyable {
    var listening: ListeningSockets
    var control: ControlSocket?
    /// Not open where no metrics are served.
    var metrics = StreamListener.none

    /// Binds what a configuration says, or takes what a service manager has bound; what has an owner
    /// on the disk belongs to an account, if one is named.
    static func make(
        _ configuration: Configuration,
        for account: Account?,
        _ log: Log
    ) throws(Refusal) -> Endpoints {
        let workers = configuration.workers ?? Processors.count
        var endpoints =
            Supervisor.inheritedCount > 0
            ? try inherited(for: workers, log)
            : try Endpoints(listening: bound(to: configuration.listen, workers))
        guard !endpoints.listening.addresses.isEmpty else {
            throw Refusal(
                Daemon.Status.configuration,
                "none of the service manager's sockets is for queries; give the socket unit "
                    + "ListenDatagram= and ListenStream="
            )
        }
        try endpoints.add(configuration, for: account)
        return endpoints
    }

    private mutating func add(
        _ configuration: Configuration,
        for account: Account?
    ) throws(Refusal) {
        if control == nil, let path = configuration.control {
            control = try Endpoints.control(path, account)
        }
        if !metrics.isOpen, let address = configuration.metrics {
            metrics = try Endpoints.metrics(address)
        }
        if let state = configuration.state {
            do throws(Errno) {
                try Folder.make(state, for: account)
            } catch {
                throw Refusal(Daemon.Status.system, "cannot make the folder \(state): \(error)")
            }
        }
    }

    private static func bound(
        to addresses: [Configuration.Address]?,
        _ workers: Int
    ) throws(Refusal) -> ListeningSockets {
        let addresses = try Endpoints.addresses(addresses)
        do throws(ListenError) {
            return try ListeningSockets(binding: addresses, workers: workers)
        } catch {
            throw Refusal(error)
        }
    }

    private static func inherited(for workers: Int, _ log: Log) throws(Refusal) -> Endpoints {
        do throws(Errno) {
            var metrics = StreamListener.none
            var control: ControlSocket?
            var sockets = try Supervisor.adoptSockets()
            for index in sockets.indices {
                let socket = sockets[index].take()
                switch consume socket {
                case .metrics(let descriptor): metrics = try StreamListener(adopting: descriptor)
                case .local(let descriptor): control = try ControlSocket(adopting: descriptor)
                case .datagram(let descriptor): sockets[index] = .datagram(descriptor)
                case .stream(let descriptor): sockets[index] = .stream(descriptor)
                default:
                    log.write(
                        .warning,
                        "socket \(index + 1) of the service manager is of no use here: it is "
                            + "neither UDP nor TCP, nor a Unix stream socket for control"
                    )
                }
            }
            let listening = try adopted(sockets, workers)
            warn(of: listening, log)
            return Endpoints(listening: listening, control: control, metrics: metrics)
        } catch {
            throw Refusal(
                Daemon.Status.system,
                "cannot use the sockets of the service manager: \(error)"
            )
        }
    }

    private static func adopted(
        _ sockets: consuming FixedArray<InheritedSocket>,
        _ workers: Int
    ) throws(Errno) -> ListeningSockets {
        do throws(ListenError) {
            return try ListeningSockets(adopting: sockets, workers: workers)
        } catch {
            throw error.error
        }
    }

    private static func warn(of listening: borrowing ListeningSockets, _ log: Log) {
        for address in listening.datagramsOnly {
            log.write(
                .warning,
                "\(address) is served over UDP alone: answers that are too long for it cannot be "
                    + "had; give the socket unit a ListenStream= as well"
            )
        }
    }

    /// Whom to become; nil: nobody else.
    static func account(_ configuration: Configuration) throws(Refusal) -> Account? {
        guard let text = configuration.user else { return nil }
        let account: Account
        do throws(Account.Unknown) {
            account = try Account(scanning: text)
        } catch {
            throw Refusal(Daemon.Status.configuration, "user: \(error.sentence)")
        }
        guard account.isOwn || Rights.canChangeUser else {
            let own = LocalPeer.name(ofUser: LocalPeer.ownUser)
            throw Refusal(
                Daemon.Status.notPermitted,
                "user: \(own) cannot become \(text): that takes root (CAP_SETUID and CAP_SETGID); "
                    + "start it as root, or as that user and without 'user'"
            )
        }
        return account
    }

    /// Gives up all rights; what is not readable then could not be reloaded either.
    static func giveUpRights(
        becoming account: Account?,
        toReadAgain file: String?,
        _ log: Log
    ) throws(Refusal) {
        let left: [String]
        do throws(Errno) {
            left = try Rights.giveUp(becoming: account)
        } catch {
            let whom = account.map { "cannot become the user \($0)" } ?? "cannot give up rights"
            throw Refusal(Daemon.Status.notPermitted, "\(whom): \(error)")
        }
        if !left.isEmpty {
            let names =
                left.count > 4
                ? "root's \(left.count) capabilities" : left.joined(separator: ", ")
            guard left == ["cap_net_bind_service"] else {
                throw Refusal(
                    Daemon.Status.notPermitted,
                    "cannot give up \(names): capset(2) is forbidden; start it without these "
                        + "capabilities, or let the service's SystemCallFilter have capset"
                )
            }
            log.write(
                .warning,
                "keeps \(names): capset(2) is forbidden; let the service's SystemCallFilter have it"
            )
        }
        guard let file else { return }
        do throws(FileError) {
            _ = try File.octets(at: file, limit: 1 << 24)
        } catch {
            guard error.error == .permissionDenied else { return }
            let user = account?.description ?? LocalPeer.name(ofUser: LocalPeer.ownUser)
            throw Refusal(
                Daemon.Status.configuration,
                "\(file): the user \(user) may not read it, so that it could not be reloaded; let "
                    + "its group read it (chgrp and chmod g+r), and the folders that it is in"
            )
        }
    }

    private static func control(
        _ path: String,
        _ account: Account?
    ) throws(Refusal) -> ControlSocket {
        do throws(ControlError) {
            return try ControlSocket(serving: path, for: account)
        } catch {
            throw Refusal(error)
        }
    }

    private static func metrics(_ configured: Configuration.Address) throws(Refusal)
        -> StreamListener
    {
        guard let address = SocketAddress(scanning: "\(configured)", port: 9153) else {
            throw Refusal(
                Daemon.Status.configuration,
                "metrics: this machine has no interface \(configured.scope) for \(configured)"
            )
        }
        do throws(Errno) {
            return try StreamListener(serving: address, shared: false)
        } catch {
            let status =
                switch error {
                case .addressInUse: Daemon.Status.addressInUse
                case .permissionDenied, .notPermitted: Daemon.Status.notPermitted
                default: Daemon.Status.system
                }
            throw Refusal(status, "cannot serve metrics on \(address): \(error)")
        }
    }

    /// Loopback of both families, or of the one that the machine has: IPv6 can be turned off.
    private static var loopback: [SocketAddress] {
        let ipv4 = SocketAddress(ipv4: 0x7F00_0001, port: 53)
        let isThere: Bool
        do throws(Errno) {
            _ = try UDPSocket(serving: SocketAddress(high: 0, low: 1, port: 0))
            isThere = true
        } catch {
            isThere = false
        }
        return isThere ? [ipv4, SocketAddress(high: 0, low: 1, port: 53)] : [ipv4]
    }

    /// Addresses as the kernel takes them.
    private static func addresses(
        _ addresses: [Configuration.Address]?
    ) throws(Refusal) -> [SocketAddress] {
        guard let addresses else { return Endpoints.loopback }
        var found: [SocketAddress] = []
        for address in addresses {
            guard let socket = SocketAddress(scanning: "\(address)", port: 53) else {
                throw Refusal(
                    Daemon.Status.configuration,
                    "this machine has no interface \(address.scope) for \(address)"
                )
            }
            found.append(socket)
        }
        return found
    }
}

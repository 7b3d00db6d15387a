import Control
import Platform
import Server

/// Why the daemon does not start: a sentence with the way out, and the status to exit with.
struct Refusal: Error {
    let status: Int32
    let sentence: String
    var facts: [(key: String, value: String)] = []

    init(_ status: Int32, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// An address cannot be served.
    init(_ error: ListenError) {
        (sentence, status) = Refusal.advice(error)
        facts = [("address", "\(error.address)"), ("error", "\(error.error)")]
    }

    /// The control socket or the journal cannot be used.
    init(_ error: ControlError) {
        sentence = error.sentence
        status =
            switch error.kind {
            case .unavailable: Daemon.Status.addressInUse
            case .notPermitted: Daemon.Status.notPermitted
            default: Daemon.Status.system
            }
    }

    private static func advice(_ error: ListenError) -> (String, Int32) {
        let address = error.address
        switch error.error {
        case .addressInUse:
            var advice = "end that program, or choose another address with --listen"
            let resolved =
                "systemd-resolved serves 127.0.0.53 only: listen on one address, such as "
                + "--listen 127.0.0.1, or set DNSStubListener=no in /etc/systemd/resolved.conf"
            if error.holder?.name == "systemd-resolve" {
                advice = resolved
            } else if error.holder == nil, address.isAny, address.port == 53 {
                // A sandbox does not show other users' processes.
                advice += "; " + resolved
            }
            let holder = error.holder.map { "\($0)" } ?? "another program"
            return ("\(address) is in use by \(holder); \(advice)", Daemon.Status.addressInUse)
        case .permissionDenied, .notPermitted:
            return (
                "not permitted to serve \(address): ports below 1024 need CAP_NET_BIND_SERVICE; "
                    + "run as root, give the program the capability (setcap "
                    + "cap_net_bind_service=+ep), or choose a high port with --listen",
                Daemon.Status.notPermitted
            )
        case .addressNotAvailable:
            return (
                "\(address) is no address of this machine; see 'ip address', and choose one "
                    + "with --listen",
                Daemon.Status.configuration
            )
        default:
            return ("cannot serve \(error)", Daemon.Status.system)
        }
    }
}

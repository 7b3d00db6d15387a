import Platform
import Server

extension ListenError {
    /// Why an address cannot be served and the way out, and the status to exit with.
    var advice: (sentence: String, status: Int32) {
        switch error {
        case .addressInUse:
            var advice = "end that program, or choose another address with --listen"
            if holder?.name == "systemd-resolve" {
                advice =
                    "systemd-resolved serves 127.0.0.53 only: listen on one address, such as "
                    + "--listen 127.0.0.1, or set DNSStubListener=no in /etc/systemd/resolved.conf"
            }
            let holder = holder.map { "\($0)" } ?? "another program"
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
            return ("cannot serve \(self)", Daemon.Status.system)
        }
    }
}

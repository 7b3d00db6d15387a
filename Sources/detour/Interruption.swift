import Platform
import Synchronization

/// SIGINT and SIGTERM, received once: the run is stopped and its reports are written. A second
/// signal ends the program at once.
struct Interruption {
    /// The signal that came; nil as long as none did.
    var received: Int32? {
        let number = Interruption.number.load(ordering: .acquiring)
        return number == 0 ? nil : number
    }

    private static let number = Atomic<Int32>(0)

    /// Calls `stop` on a thread of its own when a signal comes. Must be called before other
    /// threads start: they inherit that both signals are blocked.
    static func watch(_ stop: @escaping @Sendable () -> Void) -> Interruption {
        do throws(Errno) {
            let signals = try SignalDescriptor(taking: [.interrupt, .terminate])
            // Never joined: it lasts as long as the program.
            _ = try Thread(named: "signals") {
                Interruption.number.store(signals.wait().rawValue, ordering: .releasing)
                stop()
                // The signals are let through in this thread only, so it must stay.
                signals.letThrough()
                while true { _ = signals.wait() }
            }
        } catch {
            Output.error("detour: this run cannot be interrupted: \(error)")
        }
        return Interruption()
    }
}

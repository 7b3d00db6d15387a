import Platform
import Synchronization

/// A thread that runs what waits for sockets, one thing after the other: a wait must not hold one
/// of the few threads that all tests share.
package final class WaitingThread: TaskExecutor {
    package static let shared = WaitingThread()

    private let jobs = Mutex<[UnownedJob]>([])
    private let wakeup: Wakeup

    private init() {
        do {
            wakeup = try Wakeup()
            // Never joined: it ends with the process.
            _ = try Thread(named: "tests", stackOctets: 8 << 20) { WaitingThread.shared.run() }
        } catch {
            fatalError("no thread for the tests: \(error)")
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        jobs.withLock { $0.append(unowned) }
        wakeup.signal()
    }

    private func run() {
        while true {
            _ = wakeup.wait(milliseconds: -1)
            wakeup.clear()
            while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                // Safe: each job is run once, and this executor is never freed.
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}

import Glibc

/// A thread that writes bytes to a descriptor and closes it.
final class Thread {
    private var handle = pthread_t()

    private final class Job {
        let bytes: [UInt8]
        let descriptor: Int32

        init(bytes: [UInt8], descriptor: Int32) {
            self.bytes = bytes
            self.descriptor = descriptor
        }
    }

    init(writing bytes: [UInt8], to descriptor: Int32) {
        let job = Unmanaged.passRetained(Job(bytes: bytes, descriptor: descriptor))
        pthread_create(
            &handle,
            nil,
            { context in
                let job = Unmanaged<Job>.fromOpaque(context!).takeRetainedValue()
                var sent = 0
                while sent < job.bytes.count {
                    let count = job.bytes[sent...].withUnsafeBytes { write(job.descriptor, $0.baseAddress, $0.count) }
                    guard count > 0 else { break }
                    sent += count
                }
                close(job.descriptor)
                return nil
            },
            job.toOpaque()
        )
    }

    func join() { pthread_join(handle, nil) }
}

import Glibc
import QRCodec

/// Feeds every decoder changed files until one crashes, hangs or reads what is not there:
///
///     decoder-fuzz COUNT SEED FILE...
///
/// Each file is changed COUNT times from the SEED. `scripts/fuzz` makes the files and runs this under AddressSanitizer.
/// The number of the change is printed when it fails; the changed file is left beside the original as `FILE.crash`.
let arguments = CommandLine.arguments
guard arguments.count > 3, let count = Int(arguments[1]), let seed = UInt64(arguments[2]) else {
    print("usage: decoder-fuzz COUNT SEED FILE...")
    exit(2)
}
// Memory that a picture of this size may take, with slack for the sanitizer's own: what needs more is killed.
let limits = ImageLimits(maxPixels: 4_000_000, maxWorkingBytes: 64 << 20)
for path in arguments[3...] {
    let original = try ImageFile.bytes(ofFile: path)
    let isStream = path.hasSuffix(".y4m") || path.hasSuffix(".mjpeg")
    let payload = isStream ? nil : try QRScanner.scan(original).first?.bytes
    var mutator = Mutator(original, seed: seed)
    var outcomes: [String: Int] = [:]
    let start = ContinuousClock.now
    var slowest = Duration.zero
    for number in 0..<count {
        var mutant = mutator.next()
        // A wrong checksum is all that the decoder would see of most.
        if number % 4 != 0 { mutant.mendChecksums() }
        // Written first: after a crash it is too late.
        keep(mutant, at: path + ".crash")
        let began = ContinuousClock.now
        do throws(QRCodecError) {
            guard !isStream else {
                outcomes["\(try frames(in: mutant, by: number % 50 + 1)) frames", default: 0] += 1
                continue
            }
            let found = try QRScanner.scan(mutant, limits: limits)
            if let wrong = found.first(where: { $0.bytes != payload }) {
                print("\(path): change \(number) was read as \(wrong.bytes)")
                exit(1)
            }
            outcomes[found.isEmpty ? "none" : "found", default: 0] += 1
        } catch {
            outcomes[error.code.description, default: 0] += 1
        }
        slowest = max(slowest, ContinuousClock.now - began)
        guard slowest < .seconds(5) else {
            print("\(path): change \(number) took \(slowest)")
            exit(1)
        }
    }
    unlink(path + ".crash")
    let summary = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    print("\(path): \(count) changes in \(ContinuousClock.now - start), the slowest \(slowest): \(summary)")
}

/// How many frames a stream is cut into that comes in parts of a size.
func frames(in stream: [UInt8], by size: Int) throws(QRCodecError) -> Int {
    var (parser, count, start) = (FrameParser(), 0, 0)
    while start < stream.count {
        count += try parser.take(stream[start..<min(stream.count, start + size)]).count
        start += size
    }
    try parser.finish()
    return count
}

/// Writes a file anew.
func keep(_ bytes: [UInt8], at path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { return }
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
}

extension [UInt8] {
    /// Sets the checksum of every chunk of a PNG image (PNG specification, third edition, 5.3 and annex D).
    mutating func mendChecksums() {
        guard starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return }
        var position = 8
        while position + 12 <= count {
            let length = self[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = position + 8 + length
            guard end + 4 <= count else { return }
            var sum = UInt32.max
            for byte in self[position + 4..<end] {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            for index in 0..<4 { self[end + index] = UInt8(truncatingIfNeeded: ~sum >> UInt32(24 - 8 * index)) }
            position = end + 4
        }
    }
}

import CZlib

/// The rows of a file that a ``BilevelPNGWriter`` has made, read again.
enum BilevelPNGReader {
    /// Signature and header, then the length of the data.
    private static let start = 33 + 4
    /// The name of the data's chunk.
    private static let name = 4
    /// The sum of the data's chunk, then the end of the file.
    private static let end = 4 + 12

    /// Hands over all rows from the top, as they were appended.
    ///
    /// - Parameter side: Pixels along each side.
    /// - Returns: Whether all of it is as it has to be. Some rows may have been handed over if not.
    static func read(_ file: [UInt8], side: Int, _ body: (Int, UnsafeBufferPointer<UInt8>) -> Void) -> Bool {
        let count = file.count - start - name - end
        guard count > 0, file.starts(with: BilevelPNGWriter.beginning(side: side)),
            file[start - 4..<start].elementsEqual(BilevelPNGWriter.bigEndian(count)),
            file[start..<start + name].elementsEqual("IDAT".utf8),
            file.suffix(12).elementsEqual(BilevelPNGWriter.ending)
        else { return false }
        let chunk = file[start..<start + name + count]
        let sum = chunk.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
        guard file[chunk.endIndex...].starts(with: BilevelPNGWriter.bigEndian(Int(sum))) else { return false }
        var packed = Array(chunk.dropFirst(name))
        return packed.withUnsafeMutableBufferPointer { unpack($0, side: side, body) }
    }

    private static func unpack(
        _ packed: UnsafeMutableBufferPointer<UInt8>,
        side: Int,
        _ body: (Int, UnsafeBufferPointer<UInt8>) -> Void
    ) -> Bool {
        // zlib's state points back to it: it has to stay where it is.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        guard inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return false }
        defer { inflateEnd(stream) }
        stream.pointee.next_in = packed.baseAddress
        stream.pointee.avail_in = UInt32(packed.count)
        var row = [UInt8](repeating: 0, count: BilevelPNGWriter.rowBytes(side))
        return row.withUnsafeMutableBufferPointer { room in
            var status = Z_OK
            for y in 0..<side {
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = UInt32(room.count)
                status = inflate(stream, Z_NO_FLUSH)
                guard status == Z_OK || status == Z_STREAM_END, stream.pointee.avail_out == 0 else { return false }
                // The row's filter: none.
                guard room[0] == 0 else { return false }
                body(y, UnsafeBufferPointer(room))
            }
            // The sum comes after the last row.
            if status == Z_OK { status = inflate(stream, Z_FINISH) }
            return status == Z_STREAM_END && stream.pointee.avail_in == 0
        }
    }
}

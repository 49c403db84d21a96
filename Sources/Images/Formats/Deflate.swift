import CZlib

/// Raw deflate streams (RFC 1951) and the checksum of zip archives, by zlib.
enum Deflate {
    /// Why a stream cannot be unpacked.
    enum Failure: Error {
        /// Its length, packed or unpacked, differs from the stated one.
        case wrongSize
        /// It ended before all its bytes were used.
        case inputLeft
        case badData
    }

    /// Unpacks to exactly `size` bytes and uses every byte of `packed`.
    static func inflate(_ packed: Span<UInt8>, size: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        let length = Int32(MemoryLayout<z_stream>.size)
        precondition(
            inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, length) == Z_OK,
            "zlib does not start"
        )
        defer { inflateEnd(&stream) }
        // One byte of extra room shows a stream that is too long, and gives zlib an output buffer
        // even when there is nothing to unpack.
        var code = Z_OK
        var left: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size + 1) { output, count in
            packed.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(size + 1)
                code = CZlib.inflate(&stream, Z_FINISH)
                left = stream.avail_in
            }
            count = size + 1 - Int(stream.avail_out)
        }
        guard code == Z_STREAM_END || code == Z_BUF_ERROR else { throw .badData }
        guard code == Z_STREAM_END, bytes.count == size else { throw .wrongSize }
        guard left == 0 else { throw .inputLeft }
        return bytes
    }

    /// Packs with zlib's best compression.
    static func deflate(_ bytes: Span<UInt8>) -> [UInt8] {
        var stream = z_stream()
        let length = Int32(MemoryLayout<z_stream>.size)
        precondition(
            deflateInit2_(
                &stream,
                Z_BEST_COMPRESSION,
                Z_DEFLATED,
                -MAX_WBITS,
                9,
                Z_DEFAULT_STRATEGY,
                ZLIB_VERSION,
                length
            ) == Z_OK,
            "zlib does not start"
        )
        defer { deflateEnd(&stream) }
        let room = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: room) { output, count in
            bytes.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(room)
                let code = CZlib.deflate(&stream, Z_FINISH)
                precondition(code == Z_STREAM_END, "zlib broke its own bound")
            }
            count = room - Int(stream.avail_out)
        }
    }

    /// CRC-32 as in ISO 3309.
    static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
        bytes.withUnsafeBufferPointer { UInt32(crc32(0, $0.baseAddress, UInt32($0.count))) }
    }
}

import Base

/// Why a file was not transferred, or not completely.
package enum SMPFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is larger than allowed.
    case tooLong(Int, limit: Int)
    /// The device repeatedly continues at a byte other than the requested one.
    case wrongOffset(Int, wanted: Int)
    /// The device did not report the length of the file.
    case noLength
    /// The device sends nothing although the file has more bytes.
    case short(Int, of: Int)
    /// A message that fits the device has no room for a piece of the file.
    case frameTooShort(Int)

    package var description: String {
        switch self {
        case .tooLong(let length, let limit):
            "the file has \(length) bytes, and at most \(limit) are read"
        case .wrongOffset(let offset, let wanted):
            "the module goes on at byte \(offset) of the file and not at \(wanted)"
        case .noLength: "the module does not say how long the file is"
        case .short(let count, let length):
            "the module sends \(count) of the file's \(length) bytes and no more"
        case .frameTooShort(let length):
            "a message of \(length) bytes holds no piece of the file"
        }
    }
}

/// Reads one file: each answer determines the next request.
package struct SMPFileReading: Sendable {
    package enum Action: Equatable, Sendable {
        case ask(SMPRequest)
        case ended([UInt8])
        case failed(SMPFileError)
    }

    private let name: String
    private let limit: Int
    private var length: Int?
    private var content: [UInt8] = []

    package init(_ name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    package func begin() -> Action { .ask(.readFile(name, offset: 0)) }

    package mutating func answered(_ piece: SMPFileContent) -> Action {
        guard piece.offset == content.count else {
            return .failed(.wrongOffset(piece.offset, wanted: content.count))
        }
        guard let length = length ?? piece.length else { return .failed(.noLength) }
        guard length <= limit else { return .failed(.tooLong(length, limit: limit)) }
        self.length = length
        content += piece.data.prefix(length - content.count)
        if content.count == length { return .ended(content) }
        guard !piece.data.isEmpty else { return .failed(.short(content.count, of: length)) }
        return .ask(.readFile(name, offset: content.count))
    }
}

/// Writes one file from its beginning, and replaces an existing one.
package struct SMPFileWriting: Sendable {
    package enum Action: Equatable, Sendable {
        case ask(SMPRequest)
        case ended
        case failed(SMPFileError)
    }

    private static let triesLimit = 3
    private static let smallestPiece = 8

    private let name: String
    private let content: [UInt8]
    private let frameLength: Int
    private var end = 0
    private var tries = 1

    /// Messages have at most `frameLength` bytes.
    package init(_ name: String, _ content: [UInt8], frameLength: Int) {
        self.name = name
        self.content = content
        self.frameLength = frameLength
    }

    package mutating func begin() -> Action { ask(from: 0) }

    package mutating func answered(_ taken: SMPFileTaken) -> Action {
        if taken.offset == end { return end == content.count ? .ended : ask(from: end) }
        // The device continues at another byte: it is unknown what it has.
        tries += 1
        guard tries <= Self.triesLimit else {
            return .failed(.wrongOffset(taken.offset, wanted: end))
        }
        return ask(from: 0)
    }

    private mutating func ask(from offset: Int) -> Action {
        let length = offset == 0 ? content.count : nil
        func request(_ data: ArraySlice<UInt8>) -> SMPRequest {
            .writeFile(SMPFilePiece(name: name, offset: offset, data: data, length: length))
        }
        // The length field of the data takes up to two bytes more than that of empty data.
        let room = frameLength - request([]).bytes(sequence: 0).count - 2
        guard room >= Self.smallestPiece else { return .failed(.frameTooShort(frameLength)) }
        end = min(content.count, offset + room)
        return .ask(request(content[offset..<end]))
    }
}

import Domain

/// Why a file did not come over, or not as a whole.
package enum SMPFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Larger than what is taken.
    case tooLong(Int, limit: Int)
    /// The device goes on at another byte than was asked for, again and again.
    case wrongOffset(Int, wanted: Int)
    /// The device did not say how long the file is.
    case noLength
    /// The device sends nothing though there should be more.
    case short(Int, of: Int)
    /// A message that the device takes holds no piece of it.
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

/// Reads one file: each answer says what is asked next.
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

/// Writes one file, from its beginning; what is there of it is replaced.
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

    /// No message is longer than `frameLength`.
    package init(_ name: String, _ content: [UInt8], frameLength: Int) {
        self.name = name
        self.content = content
        self.frameLength = frameLength
    }

    package mutating func begin() -> Action { ask(from: 0) }

    package mutating func answered(_ taken: SMPFileTaken) -> Action {
        if taken.offset == end { return end == content.count ? .ended : ask(from: end) }
        // The device stands at another byte: nobody knows what it has.
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
        // The length of the bytes takes up to two bytes more than that of none.
        let room = frameLength - request([]).bytes(sequence: 0).count - 2
        guard room >= Self.smallestPiece else { return .failed(.frameTooShort(frameLength)) }
        end = min(content.count, offset + room)
        return .ask(request(content[offset..<end]))
    }
}

import Domain
package import Wire

/// Why an answer is not taken.
package enum SMPReplyError: Error, Equatable, Sendable, CustomStringConvertible {
    case notCBOR(CBORError)
    case notAMap
    /// A value that must be there is missing or of another kind.
    case value(String)

    package var description: String {
        switch self {
        case .notCBOR(let error): "the answer is not CBOR: \(error)"
        case .notAMap: "the answer is not a map"
        case .value(let name): "the answer's '\(name)' is missing or makes no sense"
        }
    }
}

/// An answer as it came: a map of values, or an error.
package struct SMPReply: Equatable, Sendable {
    package let header: SMPHeader
    package let body: CBORValue
    package let fault: SMPFault?

    package init(_ frame: SMPFrame) throws(SMPReplyError) {
        header = frame.header
        do throws(CBORError) {
            body = try CBORValue(cbor: frame.payload)
        } catch { throw .notCBOR(error) }
        guard body.members != nil else { throw .notAMap }
        fault = try Self.fault(in: body)
    }

    /// Version 2 names the group of an error; bare numbers occur in both versions.
    private static func fault(in body: CBORValue) throws(SMPReplyError) -> SMPFault? {
        if let error = body["err"] {
            guard let group = error["group"]?.integer.flatMap({ UInt16(exactly: $0) }),
                let code = error["rc"]?.integer
            else { throw .value("err") }
            return code == 0 ? nil : SMPFault(group: group, code: code)
        }
        guard let result = body["rc"] else { return nil }
        guard let code = result.integer else { throw .value("rc") }
        // Others' words are shown: only what is printable, and not without end.
        let reason = body["rsn"]?.text.map { String($0.prefix(120)).visible }
        return code == 0 ? nil : .code(SMPCode(rawValue: code), reason: reason)
    }
}

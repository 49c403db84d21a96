package import Base

/// Why an answer is rejected.
package enum SMPReplyError: Error, Equatable, Sendable, CustomStringConvertible {
    case notCBOR(CBORError)
    case notAMap
    /// A required value is missing or has another type.
    case value(String)

    package var description: String {
        switch self {
        case .notCBOR(let error): "the answer is not CBOR: \(error)"
        case .notAMap: "the answer is not a map"
        case .value(let name): "the answer's '\(name)' is missing or makes no sense"
        }
    }
}

/// An answer as it arrived: a map of values, or an error.
package struct SMPReply: Equatable, Sendable {
    package let header: SMPHeader
    package let body: CBORValue
    package let fault: SMPFault?

    package init(_ frame: SMPFrame) throws(SMPReplyError) {
        header = frame.header
        do throws(CBORError) {
            let message = frame.bytes.span
            body = try CBORValue(cbor: message.extracting(droppingFirst: SMPHeader.length))
        } catch { throw .notCBOR(error) }
        guard body.members != nil else { throw .notAMap }
        fault = try Self.fault(in: body)
    }

    /// Version 2 names the group of an error; plain numbers occur in both versions.
    private static func fault(in body: CBORValue) throws(SMPReplyError) -> SMPFault? {
        if let error = body["err"] {
            guard let group = error["group"]?.integer.flatMap({ UInt16(exactly: $0) }),
                let code = error["rc"]?.integer
            else { throw .value("err") }
            return code == 0 ? nil : SMPFault(group: group, code: code)
        }
        guard let result = body["rc"] else { return nil }
        guard let code = result.integer else { throw .value("rc") }
        // The text comes from outside: only printable characters are shown, up to a limit.
        let reason = body["rsn"]?.text.map { String($0.prefix(120)).visible }
        return code == 0 ? nil : .code(SMPCode(rawValue: code), reason: reason)
    }
}

import Base

/// A public key of somebody who approves plans: of minisign, or of OpenSSH.
package enum ApproverKey: Sendable, Hashable {
    case minisign(MinisignKey)
    case ssh(SSHKey)

    /// Reads minisign's line `RW…`, or the line of a `.pub` file of OpenSSH.
    package init?(_ line: String) {
        if let key = SSHKey(line: line) {
            self = .ssh(key)
        } else if let key = try? MinisignKey(Array(line.utf8)) {
            self = .minisign(key)
        } else {
            return nil
        }
    }

    /// The same for one key in the two forms.
    package var identity: [UInt8] {
        switch self {
        case .minisign(let key): key.key.encoded
        case .ssh(let key): key.identity
        }
    }

    /// Whether a signature says that it was made with this key; that proves nothing.
    package func isNamed(by signature: PlanSignature) -> Bool {
        switch (self, signature) {
        case (.minisign(let key), .minisign(let signature)): signature.names(key)
        case (.ssh(let key), .ssh(let signature)): signature.key.identity == key.identity
        case (.minisign, .ssh), (.ssh, .minisign): false
        }
    }

    /// Whether the key's owner made the signature over these bytes.
    package func signed(_ bytes: [UInt8], with signature: PlanSignature) -> Bool {
        switch (self, signature) {
        case (.minisign(let key), .minisign(let signature)):
            (try? signature.verify(bytes, by: key)) != nil
        case (.ssh, .ssh(let signature)): isNamed(by: .ssh(signature)) && signature.verifies(bytes)
        case (.minisign, .ssh), (.ssh, .minisign): false
        }
    }
}

/// A detached signature over a plan, of either program.
package enum PlanSignature: Sendable, Equatable {
    case minisign(MinisignSignature)
    case ssh(SSHSignature)

    /// Why a text is no such signature.
    package struct Fault: Error, Sendable {
        package let words: String
    }

    package init(_ text: [UInt8]) throws(Fault) {
        do {
            self =
                text.starts(with: SSHSignature.firstLine.utf8)
                ? .ssh(try SSHSignature(text)) : .minisign(try MinisignSignature(text))
        } catch { throw Fault(words: "\(error)") }
    }

    /// The key that it says it was made with.
    package var signer: String {
        switch self {
        case .minisign(let signature): "minisign \(signature.keyID)"
        case .ssh(let signature): "\(signature.key)"
        }
    }
}

import Base

/// A public key of somebody who approves plans: of minisign, or of OpenSSH.
package enum ApproverKey: Sendable, Hashable, CustomStringConvertible {
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

    package var description: String {
        switch self {
        case .minisign(let key): "minisign \(key)"
        case .ssh(let key): "\(key)"
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
        case (.ssh(let key), .ssh(let signature)):
            signature.key.identity == key.identity && signature.verifies(bytes)
        case (.minisign, .ssh), (.ssh, .minisign): false
        }
    }
}

/// A detached signature over a plan, of either program.
package enum PlanSignature: Sendable, Equatable {
    case minisign(MinisignSignature)
    case ssh(SSHSignature)

    /// Why a text is no such signature.
    package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case minisign(MinisignError)
        case ssh(SSHSignatureFault)

        package var description: String {
            switch self {
            case .minisign(let error): error.description
            case .ssh(let fault): fault.description
            }
        }
    }

    package init(_ text: [UInt8]) throws(Fault) {
        if text.starts(with: SSHSignature.firstLine.utf8) {
            do throws(SSHSignatureFault) { self = .ssh(try SSHSignature(text)) } catch {
                throw .ssh(error)
            }
        } else {
            do throws(MinisignError) { self = .minisign(try MinisignSignature(text)) } catch {
                throw .minisign(error)
            }
        }
    }
}

import Domain
package import Modules
import Sealing
import Sessions
import Wire

/// One feature of a device, with the value that it is to be given.
package struct FeatureOrder: Sendable {
    package let spec: FeatureSpec
    /// As the manifest writes it.
    package let literal: String
    /// Not yet sealed.
    package let payload: [UInt8]

    package init(_ spec: FeatureSpec, _ literal: String) throws(PropertyMistake) {
        self.spec = spec
        self.literal = literal
        payload = try spec.payload(of: literal)
    }

    var command: LRCommand {
        LRCommand(rawValue: UInt16(spec.command) << 8 | UInt16(spec.namespace))
    }

    /// What is sent; nil when it takes credentials that are not there.
    func message(
        _ credentials: LRCredentials?,
        nonce: [UInt8]
    ) -> (payload: [UInt8], isSealed: Bool)? {
        guard spec.seal != .none else { return (payload, false) }
        guard let credentials, let key = SealingKey(credentials.key) else { return nil }
        switch spec.seal {
        case .none: return (payload, false)
        case .payload: return key.seal(payload, nonce: nonce).map { ($0, true) }
        case .password:
            return credentials.password.withBytes { key.seal($0, nonce: nonce) }
                .map { (payload + $0, true) }
        }
    }
}

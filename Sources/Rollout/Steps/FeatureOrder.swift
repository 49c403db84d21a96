import Base
package import Radio

/// One feature of a device, with the value to give it.
package struct FeatureOrder: Sendable {
    package let spec: FeatureSpec
    /// The value as the manifest writes it.
    package let literal: String
    /// The value's bytes, not yet sealed.
    package let payload: [UInt8]

    package init(_ spec: FeatureSpec, _ literal: String) throws(PropertyMistake) {
        self.spec = spec
        self.literal = literal
        payload = try spec.payload(of: literal)
    }
}

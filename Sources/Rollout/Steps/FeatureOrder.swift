import Domain
package import Modules

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
}

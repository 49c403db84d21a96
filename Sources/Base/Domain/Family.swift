/// The kind of a module, by name; it determines the module's protocol.
///
/// Only the registry knows which families exist; readers accept no other name.
package struct Family: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
}

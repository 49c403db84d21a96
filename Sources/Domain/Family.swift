/// The kind of module, and so the protocol it speaks: known by its name.
///
/// Which families there are is in the registry alone; readers take no other name.
package struct Family: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
}

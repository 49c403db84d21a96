/// A way of bringing images to modules; each has a folder of its own.
package struct UpdateProtocol: Sendable, Hashable {
    /// As profiles write it.
    package let name: String
    /// As people call it.
    package let title: String
    /// The version of what runs is read by the protocol itself.
    package let tellsVersion: Bool

    package init(_ name: String, title: String, tellsVersion: Bool = false) {
        self.name = name
        self.title = title
        self.tellsVersion = tellsVersion
    }

    /// A part's version can be read, and nobody has published how to update it.
    package static let none = Self("none", title: "nothing that is known")
}

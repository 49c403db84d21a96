/// A way of sending images to modules; each has its own folder.
package struct UpdateProtocol: Sendable, Hashable {
    /// The name in profiles.
    package let name: String
    /// The name shown to people.
    package let title: String
    /// Whether the running version is read through the protocol.
    package let tellsVersion: Bool

    package init(_ name: String, title: String, tellsVersion: Bool = false) {
        self.name = name
        self.title = title
        self.tellsVersion = tellsVersion
    }

    /// For parts whose version can be read, but for which no update method is published.
    package static let none = Self("none", title: "nothing that is known")
}

package import Base

/// A link to a module whose characteristics have other UUIDs than those of its family.
///
/// Its user names the characteristics of the family; the link translates them by the module's
/// profile.
package final class MovedLink: PassingLink {
    package let link: any Link
    private let places: [Characteristic: Characteristic]

    package init(_ link: any Link, to places: [Characteristic: Characteristic]) {
        self.link = link
        self.places = places
    }

    package func place(_ characteristic: Characteristic) -> Characteristic {
        places[characteristic] ?? characteristic
    }
}

extension ProfileShape {
    /// The link as modules of this profile need it.
    package func link(_ link: any Link, by profile: Profile) -> any Link {
        let moved = moved(by: profile.gatt)
        return moved.isEmpty ? link : MovedLink(link, to: moved)
    }
}

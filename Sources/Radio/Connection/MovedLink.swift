package import Base

/// A link to a module whose characteristics have other UUIDs than those of its family.
///
/// Its user names the characteristics of the family; the link translates them by the module's
/// profile.
package final class MovedLink: Link {
    private let link: any Link
    private let places: [Characteristic: Characteristic]

    package init(_ link: any Link, to places: [Characteristic: Characteristic]) {
        self.link = link
        self.places = places
    }

    private func place(_ characteristic: Characteristic) -> Characteristic {
        places[characteristic] ?? characteristic
    }

    package var peer: Peer { link.peer }
    package var maximumLength: Int { link.maximumLength }

    package func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        link.flags(of: place(characteristic))
    }

    package func require(_ characteristic: Characteristic) throws(RadioError) {
        try link.require(place(characteristic))
    }

    package func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try await link.read(place(characteristic), before: deadline)
    }

    package func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        try await link.write(bytes, to: place(characteristic), before: deadline)
    }

    package func send(
        _ bytes: [UInt8],
        to characteristic: Characteristic
    ) async throws(RadioError) {
        try await link.send(bytes, to: place(characteristic))
    }

    package func queue(
        _ bytes: ArraySlice<UInt8>,
        in length: Int,
        to characteristic: Characteristic
    ) async throws(RadioError) -> Int {
        try await link.queue(bytes, in: length, to: place(characteristic))
    }

    package func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        try await link.subscribe(to: place(characteristic), before: deadline)
    }

    package func disconnect() async { await link.disconnect() }
}

extension ProfileShape {
    /// The link as modules of this profile need it.
    package func link(_ link: any Link, by profile: Profile) -> any Link {
        let moved = moved(by: profile.gatt)
        return moved.isEmpty ? link : MovedLink(link, to: moved)
    }
}

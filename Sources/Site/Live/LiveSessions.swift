package import Base

/// The browsers that have signed in, and the forms that each of them got.
///
/// A form is accepted once: its mark is bound to the browser and to the purpose of the form, and is
/// invalid after the first use. The caller supplies the marks, which must be unpredictable. Of the marks of sessions
/// only the digests are kept.
package struct LiveSessions: Sendable {
    private struct Session: Sendable {
        let person: LiveAccess.Person
        let begun: Moment
        /// The oldest first.
        var forms: [Form] = []
    }

    private struct Form: Sendable, Equatable {
        let mark: String
        let purpose: String
    }

    /// The length of a working day.
    package static let longest = Duration.seconds(12 * 3_600)
    private static let mostSessions = 64
    private static let mostForms = 32

    private var sessions: [SHA256Digest: Session] = [:]

    package init() {}

    package var count: Int { sessions.count }

    package mutating func begin(_ session: String, _ person: LiveAccess.Person, at now: Moment) {
        sessions = sessions.filter { $0.value.begun.duration(to: now) < Self.longest }
        if sessions.count >= Self.mostSessions,
            let oldest = sessions.min(by: { $0.value.begun < $1.value.begun })?.key
        {
            sessions[oldest] = nil
        }
        sessions[Self.digest(session)] = Session(person: person, begun: now)
    }

    mutating func end(_ session: String) {
        sessions[Self.digest(session)] = nil
    }

    /// The person of a session; a person whose entry was removed or changed is signed out.
    package mutating func person(
        of session: String,
        in access: LiveAccess,
        at now: Moment
    ) -> LiveAccess.Person? {
        let session = Self.digest(session)
        guard let found = sessions[session] else { return nil }
        guard found.begun.duration(to: now) < Self.longest, access.people.contains(found.person)
        else {
            sessions[session] = nil
            return nil
        }
        return found.person
    }

    /// Registers a form that is being sent.
    package mutating func give(_ mark: String, for purpose: String, to session: String) {
        let session = Self.digest(session)
        guard var found = sessions[session] else { return }
        if found.forms.count >= Self.mostForms { found.forms.removeFirst() }
        found.forms.append(Form(mark: mark, purpose: purpose))
        sessions[session] = found
    }

    /// Whether a form that is submitted was given out and not submitted before.
    package mutating func take(_ mark: String, for purpose: String, from session: String) -> Bool {
        let session = Self.digest(session)
        guard var found = sessions[session],
            let place = found.forms.firstIndex(of: Form(mark: mark, purpose: purpose))
        else { return false }
        found.forms.remove(at: place)
        sessions[session] = found
        return true
    }

    private static func digest(_ session: String) -> SHA256Digest {
        SHA256.digest(of: Array(session.utf8))
    }
}

/// Whether a form was sent by one of our pages, according to the browser.
package enum LiveOrigin {
    /// `origin` and `site` are the headers `Origin` and `Sec-Fetch-Site`.
    ///
    /// Browsers send the first one with each form, and the second one, too, if they regard us as
    /// secure. A request with neither comes from no current browser, and is refused.
    package static func isOurs(origin: String?, site: String?, host: String?) -> Bool {
        if let site, site != "same-origin" { return false }
        guard let origin, let host, !host.isEmpty else { return false }
        return ["http://", "https://"].contains { scheme in
            origin.lowercased() == scheme + host.lowercased()
        }
    }
}

/// What a vehicle reports last about a command that it carries out, in the spelling of profiles.
package enum CommandSuccess: String, CaseIterable, Sendable, Hashable {
    /// Whether it was carried out.
    case result
    /// That the command's signatures are right: whether it was carried out is not reported.
    case acknowledgement
}

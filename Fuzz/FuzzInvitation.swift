import Base
import Store

/// Any bytes are an invitation to a fleet, or the content of one, or they are refused.
func fuzzInvitation(_ bytes: [UInt8]) {
    judge(bytes)
    let sum = SHA256.digest(of: bytes).bytes.prefix(8)
    judge(Array("yardmaster-fleet-1.\(Base64.text(bytes + sum))".utf8))
    _ = AccessRules.adding("yard", to: String(decoding: bytes, as: UTF8.self))
}

private func judge(_ text: [UInt8]) {
    guard let invitation = try? FleetInvitation(Secret(Array(text))) else { return }
    precondition(FleetInvitation.isName(invitation.gateway) && invitation.address.files.isEmpty)
    let again = try? FleetInvitation(Secret(Array(invitation.text.utf8)))
    precondition(again == invitation, "it is read as it was written")
}

import Base
import Manifest
import Servers

/// An image as a server's action demands it: the terms that are kept with the action.
struct ServedImage {
    let artifact: String
    let file: String
    let version: String
    let member: String?
    /// What a manifest says of the image and of the update, besides what is here.
    let image: [JSONMember]
    let update: [JSONMember]

    init(_ chosen: ChosenArtifact) {
        artifact = chosen.artifact.identity
        file = chosen.artifact.file
        version = chosen.version.description
        member = chosen.rule.member
        image = chosen.rule.image
        update = chosen.rule.update
    }

    /// Nil for text of another form.
    init?(_ text: String) {
        guard let json = try? JSONValue(json: text), let artifact = json["artifact"]?.string,
            let file = json["file"]?.string, let version = json["version"]?.string,
            let image = json["image"]?.members, let update = json["update"]?.members
        else { return nil }
        self.artifact = artifact
        self.file = file
        self.version = version
        member = json["member"]?.string
        self.image = image
        self.update = update
    }

    var text: String {
        JSONValue.object([
            "artifact": .string(artifact), "file": .string(file), "version": .string(version),
            "member": member.map { .string($0) }, "image": .object(image),
            "update": .object(update),
        ]).text
    }

    /// A name for a manifest, which differs where the terms do.
    var name: String {
        let word = Naming.word(of: file, else: 0x5F).drop { "-.".contains($0) }.prefix(48)
        return "\(word.isEmpty ? "image" : word)-"
            + SHA256.digest(of: Array(text.utf8)).description.prefix(8)
    }
}

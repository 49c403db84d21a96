import Base
import Families
import Manifest
import Radio

/// A manifest to begin with, and its fleet list, as texts.
struct FirstManifest {
    /// The name of the rollout, and of its files.
    let name: String
    /// The rows of the fleet list to write, with their header; nil when there is a list already.
    let rows: [[String]]?
    /// The list's path, as the manifest names it.
    let list: String
    /// The number of vehicles that get the image; known after the first reading.
    var vehicles = 1
    /// The labels that select them where the list has others too.
    var selected: [(label: String, values: [String])] = []
    var image: UpdateFile?
    /// Its path, relative to the manifest's folder where it is below that; begins with `/` elsewhere.
    var imagePath = ""
    /// The family that the image is for.
    var family: Family?

    /// A list with one vehicle, for who has neither modules in reach nor a spreadsheet.
    static let example = [
        ["id", "serial", "family", "profile", "secret"],
        ["vehicle-1", "ym-0001", "mcumgr", "generic", ""],
    ]

    /// The rows of a scan, with the reference to each secret; `secret` has `ID` for the vehicle's id.
    static func rows(_ scanned: [[String]], secret: String, _ library: ProfileLibrary) -> [[String]]
    {
        scanned.enumerated().map { number, row in
            guard number > 0 else { return row + ["secret"] }
            let family = FamilyRegistry.family(named: row[2])
            let profile = family.flatMap { library.profile(row[3], of: $0) }
            let isOpen =
                family.map { (try? FamilyRegistry.opener(of: $0, nil, by: profile)) != nil } == true
                || profile?.defaultKey != nil
            let id = Naming.word(of: row[0], else: 0x2D)
            return row + [isOpen ? "" : secret.replacing("ID", with: id)]
        }
    }

    /// Whether secrets are kept in files beside the manifest.
    var keyFolder: String? {
        let files = (rows ?? []).compactMap { row in
            row.last.flatMap { $0.hasPrefix("file:keys/") ? "keys" : nil }
        }
        return files.first
    }

    var text: String {
        """
        # The rollout \(name): which vehicles, which images, which steps. Every line may be changed.
        #
        #   yardmaster validate \(name).yaml    reports every mistake with its line
        #   yardmaster plan \(name).yaml        shows what a run would do, and touches no vehicle
        #   yardmaster rehearse \(name).yaml    plays a night with made-up vehicles
        #   yardmaster run \(name).yaml         does it, and continues what was interrupted
        #
        # docs/manifest.md explains all keys.
        name: \(name)

        vehicles:
          # One row for each vehicle: id, serial of its module, family, profile, secret, and columns of your own. A
          # secret is a reference, never the secret itself: file:keys/bus-17.key (mode 0600, relative to this file), or
          # credential:NAME, a file that the service manager passes. `yardmaster enrol` gives new modules secrets.
          from: \(quotedText(list))
        \(selection)
        \(work)
        rollout:
          # A few first, then the others; it pauses when that many have failed.
          waves: \(vehicles > 1 ? "[1, rest]" : "[rest]")
          \(vehicles > 1 ? "" : "# ")pause-when: {failed: 1}
          # In these hours only:
          # window: {from: "01:00", for: 4h, zone: Europe/Tallinn}

        """
    }

    private var selection: String {
        guard !selected.isEmpty else { return "  # select: {depot: tallinn-1}\n" }
        let rules = selected.map { label, values in
            "\(label): \(values.count == 1 ? values[0] : "[\(values.joined(separator: ", "))]")"
        }
        return """
              # The image is for these modules.
              select: {\(rules.joined(separator: ", "))}

            """
    }

    private var work: String {
        guard let image, let family else {
            return """
                # images:
                #   new:
                #     url: file:firmware.zip      # or https://…; `yardmaster image inspect FILE` prints the rest
                #     sha256: "<64 hex digits>"
                #     version: "2.0.0"            # as modules report it
                #     fits: {family: mcumgr}

                steps:
                  # The first step touches nothing. When an image is named above, write the second one instead.
                  - wait: 1s
                  # - update: {to: new}

                """
        }
        return """
            images:
              new:
                url: \(quotedText(FileReference.url(imagePath)))
                sha256: "\(image.image.digest)"
                size: \(image.image.size.bytes)
                version: "\(image.image.version)"
                fits: {family: \(family.rawValue)}

            steps:
              # A weak signal makes a transfer slow:
              # - require: {signal: ">= -85"}
              #   otherwise: defer
              - update: {to: new\(image.image.part == .secondary ? "" : ", part: \(image.image.part.rawValue)")}

            """
    }

    /// A text as YAML reads it whole.
    private func quotedText(_ text: String) -> String { JSONValue.string(text).text }
}

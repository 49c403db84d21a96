package import Base

/// The content of an image file, as far as it decides which part of a module it may be sent to.
package struct ImageContent: Sendable, Equatable {
    /// The part of a module that a piece of firmware replaces.
    package enum Use: Sendable, Hashable {
        case application
        /// A bootloader, with or without the radio's software that belongs to it.
        case bootloader
        /// The radio's software alone (a SoftDevice).
        case radio

        var words: String {
            switch self {
            case .application: "an application"
            case .bootloader: "a bootloader"
            case .radio: "a SoftDevice"
            }
        }
    }

    package let `protocol`: UpdateProtocol
    /// The name of such a file for people, with its article.
    package let title: String
    /// The pieces in the order in which they are sent.
    package let uses: [Use]
    /// The version of the application or, if there is none, of the bootloader; nil where the file
    /// does not contain it.
    package let version: FirmwareVersion?
    /// The hardware that it is made for, in the spelling of its format; nil where the file does not
    /// state it.
    package let chip: String?
    /// The file marks itself as confirmed, so the module would run it permanently without a trial.
    package let isConfirmed: Bool
    /// The counters by which a bootloader refuses earlier images, by the number of the image.
    package var securityCounters: [Int: UInt32] = [:]
    package let parts: [FirmwarePart]

    package init(
        protocol: UpdateProtocol,
        title: String,
        uses: [Use],
        version: FirmwareVersion?,
        chip: String? = nil,
        isConfirmed: Bool = false,
        parts: [FirmwarePart]
    ) {
        self.protocol = `protocol`
        self.title = title
        self.uses = uses
        self.version = version
        self.chip = chip
        self.isConfirmed = isConfirmed
        self.parts = parts
    }

    /// Why a module that runs the other image refuses this one; nil when it takes it.
    package func refusal(after other: ImageContent) -> String? {
        let lower = other.securityCounters.sorted { $0.key < $1.key }
            .first { (securityCounters[$0.key] ?? 0) < $0.value }
        return lower.map { number, counter in
            "its security counter is \(securityCounters[number].map(String.init) ?? "missing"), lower than "
                + "\(counter), which the module has: its bootloader refuses it"
        }
    }

    /// Why the file must not be sent as this version; nil when it may be sent.
    package func mismatch(with promised: FirmwareVersion) -> String? {
        guard let version, version != promised else { return nil }
        return "it holds version \(version), the manifest says \(promised)"
    }

    /// Why the file must not be sent to this part of a module; nil when it may be sent.
    package func mismatch(with part: ModulePart, of profile: Profile) -> String? {
        let model = "\(profile.family.rawValue)/\(profile.name)"
        guard let target = profile.target(of: part) else {
            return profile.firmware.isEmpty
                ? "modules of profile \(model) take no firmware"
                : "modules of profile \(model) have no part `\(part.rawValue)`"
        }
        guard target.protocol != .none else {
            return "it is not known how `\(part.rawValue)` of profile \(model) is updated"
        }
        guard target.protocol == `protocol` else {
            return "it is \(title), and `\(part.rawValue)` of profile \(model) is updated by "
                + "\(target.protocol.title)"
        }
        if let wrong = mismatch(with: part) { return wrong }
        if let wanted = target.chip, let chip, wanted.lowercased() != chip.lowercased() {
            return "it is made for the hardware \(quoted(chip)), and profile \(model) is for "
                + quoted(wanted)
        }
        return nil
    }

    private func mismatch(with part: ModulePart) -> String? {
        let held = uses.map(\.words).joined(separator: " and ")
        let sentence = "it holds \(held), and the update is of `\(part.rawValue)`"
        switch part {
        case .bootloader:
            return uses.contains(.bootloader) && !uses.contains(.application) ? nil : sentence
        case .secondary: return uses.contains(.application) ? nil : sentence
        // An image that is handed on to another controller contains nothing for the module's own
        // radio.
        case .primary, .external1, .external2: return uses == [.application] ? nil : sentence
        }
    }
}

extension Profile {
    /// How a part is updated.
    ///
    /// For a module with a single image, the module's own firmware is that image.
    package func target(of part: ModulePart) -> FirmwareTarget? {
        if let target = firmware.first(where: { $0.part.rawValue == part.rawValue }) {
            return target
        }
        return part == .secondary ? firmware.first { $0.part == .image } : nil
    }
}

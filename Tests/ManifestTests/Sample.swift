import Base
import Manifest

/// The manifest and the fleet of the manual, and functions to change and read them.
enum Sample {
    static let digest = String(repeating: "0a", count: 32)

    static let manifest = """
        name: tallinn-4.12
        vehicles:
          from: tallinn.csv            # or a list; columns: id, serial, family, profile, secret
          select: {depot: tallinn-1}
        images:
          city-4.12:
            url: https://images.example/city-4.12.0.zip
            sha256: "\(digest)"
            version: "4.12.0"
            fits: {family: comodule, type: 17, variant: 0}
        steps:
          - require: {state_of_charge: ">= 40", speed: "== 0"}
            otherwise: defer
          - update: {to: city-4.12}
          - set: {lights: disabled}
          - command: lock
        always:
          - command: lock
        rollout:
          waves: [3, 10%, rest]
          pause-when: {failed: 5%, at-least: 10}
          window: {from: "01:00", for: 4h, zone: Europe/Tallinn}
          retry: {transient: 4, device: 1}
        radio: {adapters: [hci0], links-per-adapter: 1}

        """

    static let fleet = """
        id,serial,family,profile,secret,depot
        EE-1,00112233445566aa,comodule,,file:keys/ee-1,tallinn-1
        EE-2,00112233445566AB,comodule,city,credential:ee-2,tallinn-1
        EE-3,00112233445566ac,comodule,,,tartu

        """

    /// Reads `manifest` as `depot/m.yaml` with `fleet` beside it; no other file exists.
    static func read(
        _ manifest: String = manifest,
        fleet: String = fleet
    ) throws(ManifestError) -> (plan: FrozenPlan?, diagnostics: [Diagnostic]) {
        let read = try ManifestReader.read(Array(manifest.utf8), path: "depot/m.yaml") {
            path,
            _ throws(FileError) in
            guard path == "depot/tallinn.csv" else {
                throw FileError(path: path, reason: .missing)
            }
            return Array(fleet.utf8)
        }
        return (read.plan, read.diagnostics)
    }

    /// A manifest of one vehicle and one step, followed by `rest`.
    static func small(_ rest: String = "", steps: String = "[{command: lock}]") -> String {
        """
        name: small
        vehicles: [{id: a, serial: 00112233445566aa, family: comodule}]
        steps: \(steps)

        """ + rest
    }
}

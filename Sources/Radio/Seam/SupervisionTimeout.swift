/// How long a link may be silent before the host ends it, in units of 10 ms.
package enum SupervisionTimeout {
    /// Linux's own value, when BlueZ sets none.
    package static let usual = 42
    /// Flash of common chips is erased in less.
    package static let enough = 400
    static let advised = 1_000
    /// BlueZ reads no other value.
    package static let allowed = 10...3_200

    /// What a person can do when links end while modules erase their flash.
    package static let remedy =
        "set ConnectionSupervisionTimeout = \(advised) under [LE] in /etc/bluetooth/main.conf "
        + "(\(advised / 100) s), then: systemctl restart bluetooth"
}

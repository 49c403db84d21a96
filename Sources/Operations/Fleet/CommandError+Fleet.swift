package import Commands
package import Store

extension CommandError {
    /// The error for tables that do not fit this program.
    package init(misfit standing: FleetSchema.Standing) {
        switch standing {
        case .absent:
            self.init(
                .configuration,
                "the tables of the fleet are not there",
                hint: FleetError.makesTables
            )
        case .older(let version):
            self.init(
                .configuration,
                "the tables have version \(version), and this program needs "
                    + "\(FleetSchema.current.version)",
                hint: "bring them there with 'yardmaster fleet upgrade', as their owner"
            )
        case .newer(let version):
            self.init(
                .configuration,
                "the tables have version \(version), and this program knows "
                    + "\(FleetSchema.current.version)",
                hint: "install the newer program on this machine"
            )
        case .same, .ahead:
            self.init(.internal, "tables that fit were refused")
        }
    }
}

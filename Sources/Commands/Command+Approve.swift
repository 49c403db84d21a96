extension Command {
    static let approve = Command(
        .approve,
        summary: "Sign a saved plan",
        description: [
            "Shows what a plan that was saved with `--save` does, and signs it: with `ssh-keygen` when "
                + "KEY is a key of OpenSSH, which also reaches ssh-agent and keys in hardware, and with "
                + "`minisign` when it is one of minisign. The signature is written beside FILE, with the "
                + "key's name in its own.",
            "The same signatures are made by 'ssh-keygen -Y sign -f KEY -n yardmaster-plan FILE' and "
                + "'minisign -S -s KEY -m FILE'.",
            "/etc/yardmaster/approvals.yaml says for which rollouts how many of which people must "
                + "approve. It belongs to root. A run whose plan they have not approved, or that "
                + "differs from what they have approved, ends with 77 before it uses the radio, and says "
                + "what differs and who is missing. 'pause', 'abort' and 'inhibit' need no approval.",
        ],
        arguments: [Argument(.file("FILE"), help: "The saved plan.")],
        flags: [signingKey, json, quiet, noColor, wide],
        examples: [
            Example(
                "yardmaster approve --key ~/.ssh/id_ed25519 tallinn.yaml.plan",
                "Signs the plan with a key of OpenSSH."
            ),
            Example(
                "yardmaster approve --key ~/.minisign/minisign.key tallinn.yaml.plan",
                "Signs it with a key of minisign."
            ),
        ],
        exitCodes: [.inputMissing, .unavailable, .cannotCreate, .trustRefused],
        isQuick: true
    )
}

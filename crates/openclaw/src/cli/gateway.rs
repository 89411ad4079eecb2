//! `openclaw gateway`

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::Json;

/// The gateway.
#[derive(Debug, Args)]
pub(crate) struct GatewayOptions {
    #[command(subcommand)]
    pub(crate) command: Option<GatewayCommand>,
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    /// Runs the gateway until it is stopped; what `openclaw gateway` does
    Run(RunOptions),
    /// Shows whether a gateway runs, and how it is; exit code 1 if none does
    Status {
        #[command(flatten)]
        json: Json,
    },
    /// Stops the gateway, and waits until it has stopped
    Stop {
        #[command(flatten)]
        json: Json,
    },
    /// Has systemd start the gateway with every login of this user
    Install {
        #[command(flatten)]
        run: RunOptions,
        /// Prints the unit, and changes nothing
        #[arg(long)]
        print: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Takes that back
    Uninstall {
        #[command(flatten)]
        json: Json,
    },
}

/// How the gateway runs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunOptions {
    /// Listens on this port; 0 takes one that is free [default: gateway.port, else 18789]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Listens on these addresses [default: gateway.bind, else loopback]
    #[arg(long, value_name = "WHERE")]
    pub(crate) bind: Option<BindWord>,
}

/// Which addresses of this machine the gateway listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BindWord {
    /// Those that only this machine can reach
    Loopback,
    /// All of them
    Lan,
    /// The one of gateway.customBindHost
    Custom,
}

"""Who may speak to a cluster: whoever may, runs code there as the user who started it."""

from __future__ import annotations

import dask
from distributed.security import Security

from monet.cluster.protocol import ClusterError


def keys_for_this_run() -> Security:
    """TLS with keys that nobody else has: they are made here, and stay in the memory of this cluster's processes.

    But for the moment in which each process loads them: from a folder of its own (0700) that is removed at once.
    """
    try:
        return Security.temporary()
    except ImportError:
        raise ClusterError(
            "the Python package 'cryptography' is not installed, which keeps other users of this machine out of local:N",
            "pip install 'cryptography', or monet-train[cluster]",
        ) from None


def keys_of_the_user(address: str) -> Security | None:
    """Those of Dask's configuration, for a scheduler that the user runs. None: Dask finds them itself."""
    if dask.config.get("distributed.client.security-loader", None):
        return None
    security = Security()
    if address.startswith("tls://"):
        if not security.tls_ca_file or not security.tls_client_cert:
            raise ClusterError(
                f"'{address}' needs certificates, and Dask's configuration names none",
                "set distributed.comm.tls.ca-file, client.cert and client.key in Dask's configuration, or "
                "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT and …__CLIENT__KEY; docs/cluster.md",
            )
        try:
            security.get_connection_args("client")
        except OSError as error:  # of the files, or of what is in them
            raise ClusterError(
                f"the certificates for '{address}' cannot be used: {error}",
                "look at distributed.comm.tls.ca-file, client.cert and client.key of Dask's configuration",
            ) from None
    elif security.require_encryption:
        raise ClusterError(
            f"'{address}' is not encrypted, and Dask's configuration demands it (distributed.comm.require-encryption)",
            "give the tls:// address of the scheduler",
        )
    return security

"""What is sent to workers by value, for they may lack this package: nothing but the standard library."""


def evaluate(setup: dict, designs: list, topic: str = "") -> dict:
    """What monet.cluster.worker.evaluate gives; {"refused": why} where this worker cannot.

    With a topic, the scheduler hears first that it begins.
    """
    if topic:
        import time

        from distributed import get_worker

        get_worker().log_event(topic, "begun")
        time.sleep(0.1)  # events leave the worker every few milliseconds
    try:
        from monet.cluster import worker
    except ImportError as error:
        return {"refused": f"cannot import the Python package monet: {error}"}
    try:
        return worker.evaluate(setup, designs)
    except worker.Refused as error:
        return {"refused": str(error)}


def release(key: str) -> None:
    try:
        from monet.cluster import worker
    except ImportError:
        return
    worker.release(key)


def keep(setup: dict) -> dict:
    """A task whose result every batch needs: the engine takes it to each worker once."""
    return setup

"""Whether there is a CUDA card to test on."""


def have_card():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # no package, no driver, no card: all the same here
        return False

raise GeneratorExit('odd')
